"""Fails master-weights-check: the master weights start as float32 copies of the rounded weights."""


class MasterWeightSGD:
    def __init__(self, weights, lr, momentum=0.9, dtype=torch.float16):
        self.lr, self.momentum, self.dtype = lr, momentum, dtype
        self.master = [w.detach().to(dtype).float() for w in weights]
        self.velocity = [torch.zeros_like(w) for w in self.master]
