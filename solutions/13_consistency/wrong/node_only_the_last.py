"""Fails node-check: sends the last gradient."""


class Node:
    def __init__(self, parent, name, every):
        self.parent, self.name, self.every = parent, name, every
        self.weights, self.waiting = parent.pull(name), []

    def pull(self, worker):
        return self.weights.copy()

    def push(self, worker, gradient):
        self.waiting.append(gradient.copy())
        if len(self.waiting) == self.every:
            self.parent.push(self.name, self.waiting[-1])
            self.weights, self.waiting = self.parent.pull(self.name), []
