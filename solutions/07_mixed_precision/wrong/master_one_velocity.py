"""Fails master-weights-check: all weights share one velocity."""


class MasterWeightSGD:
    def __init__(self, weights, lr, momentum=0.9, dtype=torch.float16):
        self.lr, self.momentum, self.dtype = lr, momentum, dtype
        self.master = [w.detach().clone().float() for w in weights]
        self.velocity = [torch.zeros_like(self.master[0])] * len(weights)

    def step(self, gradients):
        for i, g in enumerate(gradients):
            self.velocity = [
                self.momentum * self.velocity[i] + g.float()
            ] * len(gradients)
            self.master[i] = self.master[i] - self.lr * self.velocity[i]
        return [w.to(self.dtype) for w in self.master]
