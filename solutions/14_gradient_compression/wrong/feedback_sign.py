"""Fails error-feedback-check: remembers with the wrong sign."""


class ErrorFeedback:
    def __init__(self, compress, decompress):
        self.compress, self.decompress = compress, decompress
        self.memory = 0

    def send(self, gradient):
        corrected = gradient + self.memory
        message = self.compress(corrected)
        self.memory = self.decompress(message) - corrected
        return message
