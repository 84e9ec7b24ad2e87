"""Fails error-feedback-check: keeps the memory in the class."""


class ErrorFeedback:
    memory = 0

    def __init__(self, compress, decompress):
        self.compress, self.decompress = compress, decompress

    def send(self, gradient):
        corrected = gradient + type(self).memory
        message = self.compress(corrected)
        type(self).memory = corrected - self.decompress(message)
        return message
