"""Fails master-weights-check: moves by the gradient alone."""


class MasterWeightSGD:
    def step(self, gradients):
        for i, g in enumerate(gradients):
            self.velocity[i] = g.float()
            self.master[i] = self.master[i] - self.lr * self.velocity[i]
        return [w.to(self.dtype) for w in self.master]
