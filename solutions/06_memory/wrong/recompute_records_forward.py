"""Fails recompute-check: forward records run (and throws the record away after), so while it runs everything inside is kept."""


class Recompute(torch.autograd.Function):
    """Calls a function, keeps only its argument, and calls it again."""

    @staticmethod
    def _call(run, x, wants):
        with torch.enable_grad():
            x = x.detach()
            if wants:
                x.requires_grad_()
            return x, run(x)

    @staticmethod
    def forward(ctx, run, x, ticket):
        """Return run(x)."""
        ctx.save_for_backward(x)
        ctx.run, ctx.state = run, torch.get_rng_state()
        return Recompute._call(run, x, ctx.needs_input_grad[1])[1].detach()

    @staticmethod
    def backward(ctx, upstream):
        """Return the gradients of run, x and ticket."""
        (x,) = ctx.saved_tensors
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        x, y = Recompute._call(ctx.run, x, ctx.needs_input_grad[1])
        torch.autograd.backward(y, upstream)
        torch.set_rng_state(now)
        return None, x.grad, None
