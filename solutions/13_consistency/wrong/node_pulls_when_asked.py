"""Fails node-check: takes weights only when a worker asks."""


class Node:
    def __init__(self, parent, name, every):
        self.parent, self.name, self.every = parent, name, every
        self.weights, self.waiting = None, []

    def pull(self, worker):
        if self.weights is None:
            self.weights = self.parent.pull(self.name)
        return self.weights.copy()

    def push(self, worker, gradient):
        self.waiting.append(gradient.copy())
        if len(self.waiting) == self.every:
            self.parent.push(self.name, np.mean(self.waiting, axis=0))
            self.weights, self.waiting = self.parent.pull(self.name), []
