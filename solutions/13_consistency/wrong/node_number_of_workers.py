"""Fails node-check: divides by the number of workers seen."""


class Node:
    def __init__(self, parent, name, every):
        self.parent, self.name, self.every = parent, name, every
        self.weights, self.waiting, self.known = parent.pull(name), [], set()

    def pull(self, worker):
        return self.weights.copy()

    def push(self, worker, gradient):
        self.known.add(worker)
        self.waiting.append(gradient.copy())
        if len(self.waiting) == self.every:
            self.parent.push(
                self.name,
                np.sum(self.waiting, axis=0) / np.float32(len(self.known)),
            )
            self.weights, self.waiting = self.parent.pull(self.name), []
