"""Fails error-feedback-check: forgets what is left."""


class ErrorFeedback:
    def __init__(self, compress, decompress):
        self.compress, self.decompress = compress, decompress
        self.memory = 0

    def send(self, gradient):
        self.memory = np.zeros_like(gradient)
        return self.compress(gradient)
