"""Fails master-weights-check: keeps its weights in 16 bits: there is no master copy."""


class MasterWeightSGD:
    def __init__(self, weights, lr, momentum=0.9, dtype=torch.float16):
        self.lr, self.momentum, self.dtype = lr, momentum, dtype
        self.master = [w.detach().clone().to(dtype) for w in weights]
        self.velocity = [
            torch.zeros_like(w, dtype=torch.float32) for w in self.master
        ]
