"""Fails error-feedback-check: returns what is decompressed, not the message."""


class ErrorFeedback:
    def __init__(self, compress, decompress):
        self.compress, self.decompress = compress, decompress
        self.memory = 0

    def send(self, gradient):
        corrected = gradient + self.memory
        message = self.decompress(self.compress(corrected))
        self.memory = corrected - message
        return message
