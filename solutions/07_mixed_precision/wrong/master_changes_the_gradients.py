"""Fails master-weights-check: adds the momentum to the gradients that were handed in, in place."""


class MasterWeightSGD:
    def step(self, gradients):
        for i, g in enumerate(gradients):
            g.add_(self.momentum * self.velocity[i])
            self.velocity[i] = g.float().clone()
            self.master[i] = self.master[i] - self.lr * self.velocity[i]
        return [w.to(self.dtype) for w in self.master]
