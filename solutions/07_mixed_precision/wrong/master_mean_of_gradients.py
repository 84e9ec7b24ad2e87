"""Fails master-weights-check: the velocity is a running mean and not a fading sum."""


class MasterWeightSGD:
    def step(self, gradients):
        for i, g in enumerate(gradients):
            self.velocity[i] = (
                self.momentum * self.velocity[i]
                + (1 - self.momentum) * g.float()
            )
            self.master[i] = self.master[i] - self.lr * self.velocity[i]
        return [w.to(self.dtype) for w in self.master]
