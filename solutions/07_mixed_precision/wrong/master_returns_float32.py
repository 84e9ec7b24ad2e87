"""Fails master-weights-check: returns the master weights themselves."""


class MasterWeightSGD:
    def step(self, gradients):
        for i, g in enumerate(gradients):
            self.velocity[i] = self.momentum * self.velocity[i] + g.float()
            self.master[i] = self.master[i] - self.lr * self.velocity[i]
        return [w.clone() for w in self.master]
