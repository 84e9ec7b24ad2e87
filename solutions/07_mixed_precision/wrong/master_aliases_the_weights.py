"""Fails master-weights-check: w.float() of a float32 tensor is that tensor, and step changes it in place."""


class MasterWeightSGD:
    def __init__(self, weights, lr, momentum=0.9, dtype=torch.float16):
        self.lr, self.momentum, self.dtype = lr, momentum, dtype
        self.master = [w.float() for w in weights]
        self.velocity = [torch.zeros_like(w) for w in self.master]

    def step(self, gradients):
        for w, v, g in zip(self.master, self.velocity, gradients):
            v.mul_(self.momentum).add_(g.float())
            w.sub_(self.lr * v)
        return [w.to(self.dtype) for w in self.master]
