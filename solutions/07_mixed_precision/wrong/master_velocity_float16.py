"""Fails master-weights-check: keeps the velocity in 16 bits, where small gradients vanish."""


class MasterWeightSGD:
    def __init__(self, weights, lr, momentum=0.9, dtype=torch.float16):
        self.lr, self.momentum, self.dtype = lr, momentum, dtype
        self.master = [w.detach().clone().float() for w in weights]
        self.velocity = [torch.zeros_like(w, dtype=dtype) for w in self.master]

    def step(self, gradients):
        for i, g in enumerate(gradients):
            self.velocity[i] = (self.momentum * self.velocity[i] + g).to(
                self.dtype
            )
            self.master[i] = self.master[i] - self.lr * self.velocity[i].float()
        return [w.to(self.dtype) for w in self.master]
