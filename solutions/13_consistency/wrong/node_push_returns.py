"""Fails node-check: a push returns the weights."""


class Node:
    def __init__(self, parent, name: int, every: int) -> None:
        self.parent, self.name, self.every = parent, name, every
        self.weights, self.waiting = parent.pull(name), []

    def pull(self, worker: int) -> np.ndarray:
        return self.weights.copy()

    def push(self, worker: int, gradient: np.ndarray) -> np.ndarray:
        self.waiting.append(gradient.copy())
        if len(self.waiting) == self.every:
            self.parent.push(self.name, np.mean(self.waiting, axis=0))
            self.weights, self.waiting = self.parent.pull(self.name), []
        return self.weights.copy()
