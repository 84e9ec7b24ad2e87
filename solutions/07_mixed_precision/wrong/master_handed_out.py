"""Fails master-weights-check: with dtype float32 the result is the master weight itself, which the next step changes in place."""


class MasterWeightSGD:
    def __init__(
        self,
        weights: list[torch.Tensor],
        lr: float,
        momentum: float = 0.9,
        dtype=torch.float16,
    ) -> None:
        self.lr, self.momentum, self.dtype = lr, momentum, dtype
        self.master = [w.detach().float().clone() for w in weights]
        self.velocity = [torch.zeros_like(w) for w in self.master]

    def step(self, gradients: list[torch.Tensor]) -> list[torch.Tensor]:
        with torch.no_grad():
            for w, v, g in zip(
                self.master, self.velocity, gradients, strict=True
            ):
                v.mul_(self.momentum).add_(g.float())
                w.sub_(self.lr * v)
            return [w.to(self.dtype) for w in self.master]
