"""Fails master-weights-check: the rounded copy becomes the master weight of the next step."""


class MasterWeightSGD:
    def step(self, gradients):
        for i, g in enumerate(gradients):
            self.velocity[i] = self.momentum * self.velocity[i] + g.float()
            self.master[i] = (
                (self.master[i] - self.lr * self.velocity[i])
                .to(self.dtype)
                .float()
            )
        return [w.to(self.dtype) for w in self.master]
