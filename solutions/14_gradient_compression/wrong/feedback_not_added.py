"""Fails error-feedback-check: remembers, but does not send what it remembers."""


class ErrorFeedback:
    def __init__(self, compress, decompress):
        self.compress, self.decompress = compress, decompress
        self.memory = 0

    def send(self, gradient):
        message = self.compress(gradient)
        self.memory = self.memory + gradient - self.decompress(message)
        return message
