"""Fails node-check: halves the sum of the mean so far and the next gradient."""


class Node:
    def __init__(self, parent, name: int, every: int) -> None:
        self.parent, self.name, self.every = parent, name, every
        self.weights = np.array(parent.pull(name))
        self.count, self.mean = 0, None

    def pull(self, worker: int) -> np.ndarray:
        return self.weights.copy()

    def push(self, worker: int, gradient: np.ndarray) -> None:
        if self.mean is None:
            self.mean = gradient.copy()
        else:
            self.mean = (self.mean + gradient) / 2
        self.count += 1
        if self.count == self.every:
            self.parent.push(self.name, self.mean)
            self.weights = np.array(self.parent.pull(self.name))
            self.count, self.mean = 0, None
