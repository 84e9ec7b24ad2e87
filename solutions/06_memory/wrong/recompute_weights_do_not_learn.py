"""Fails recompute-check: asks for the gradient of x only."""


class Recompute(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, x, ticket):
        ctx.run, ctx.state = run, torch.get_rng_state()
        ctx.save_for_backward(x)
        return run(x)

    @staticmethod
    def backward(ctx, upstream):
        x = ctx.saved_tensors[0].detach()
        x.requires_grad_(ctx.needs_input_grad[1])
        before = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        with torch.enable_grad():
            y = ctx.run(x)
        torch.set_rng_state(before)
        if not x.requires_grad:
            return None, None, None
        return None, torch.autograd.grad(y, x, upstream)[0], None
