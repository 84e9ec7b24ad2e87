"""Fails master-weights-check: the velocity keeps lr times the gradients, so a change of the rate comes late."""


class MasterWeightSGD:
    def step(self, gradients):
        for i, g in enumerate(gradients):
            self.velocity[i] = (
                self.momentum * self.velocity[i] + self.lr * g.float()
            )
            self.master[i] = self.master[i] - self.velocity[i]
        return [w.to(self.dtype) for w in self.master]
