"""Fails recompute-check: leaves the generator where the second call left it."""


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
        torch.set_rng_state(ctx.state)
        with torch.enable_grad():
            y = ctx.run(x)
        torch.autograd.backward(y, upstream)
        return None, x.grad, None
