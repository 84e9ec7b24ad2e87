"""Fails node-check: keeps the workers' array, which they use again."""


class Node:
    def __init__(self, parent, name, every):
        self.parent, self.name, self.every = parent, name, every
        self.weights, self.waiting = parent.pull(name), []

    def pull(self, worker):
        return self.weights.copy()

    def push(self, worker, gradient):
        self.waiting.append(gradient)
        if len(self.waiting) == self.every:
            self.parent.push(self.name, np.mean(self.waiting, axis=0))
            self.weights, self.waiting = self.parent.pull(self.name), []
