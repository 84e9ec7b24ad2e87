"""Fails node-check: takes weights before it has pushed."""


class Node:
    def __init__(self, parent, name, every):
        self.parent, self.name, self.every = parent, name, every
        self.weights, self.waiting = parent.pull(name), []

    def pull(self, worker):
        return self.weights.copy()

    def push(self, worker, gradient):
        self.waiting.append(gradient.copy())
        if len(self.waiting) == self.every:
            self.weights = self.parent.pull(self.name)
            self.parent.push(self.name, np.mean(self.waiting, axis=0))
            self.waiting = []
