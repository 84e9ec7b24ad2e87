"""Fails error-feedback-check: keeps the caller's array as its memory."""


class ErrorFeedback:
    def __init__(self, compress, decompress):
        self.compress, self.decompress = compress, decompress
        self.memory = 0

    def send(self, gradient):
        corrected = gradient + self.memory
        message = self.compress(corrected)
        gradient[:] = corrected - self.decompress(message)
        self.memory = gradient
        return message
