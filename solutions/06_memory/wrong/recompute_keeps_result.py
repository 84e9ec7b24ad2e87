"""Fails recompute-check: ctx also holds the result (to compare with later), so not only x is kept."""


class Recompute(torch.autograd.Function):
    """Calls a function, keeps only its argument, and calls it again."""

    @staticmethod
    def forward(ctx, run, x, ticket):
        """Return run(x)."""
        ctx.save_for_backward(x)
        ctx.run = run
        ctx.state = torch.get_rng_state()
        y = run(x)
        ctx.first = y.detach()
        return y

    @staticmethod
    def backward(ctx, upstream):
        """Return the gradients of run, x and ticket."""
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        x = ctx.saved_tensors[0].detach()
        if ctx.needs_input_grad[1]:
            x.requires_grad_()
        with torch.enable_grad():
            y = ctx.run(x)
        if y.shape != ctx.first.shape:
            raise RuntimeError("run gave another shape the second time")
        torch.autograd.backward(y, upstream)
        torch.set_rng_state(now)
        return None, x.grad, None
