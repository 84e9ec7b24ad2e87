"""Fails recompute-check: records in forward and keeps all."""


class Recompute(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, x, ticket):
        ctx.run, ctx.state = run, torch.get_rng_state()
        ctx.save_for_backward(x)
        with torch.enable_grad():
            ctx.own = x.detach().requires_grad_(x.is_floating_point())
            ctx.y = run(ctx.own)
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, upstream):
        x = ctx.saved_tensors[0].detach()
        x.requires_grad_(ctx.needs_input_grad[1])
        before = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        with torch.enable_grad():
            y = ctx.run(x)
        torch.set_rng_state(before)
        torch.autograd.backward(y, upstream)
        return None, x.grad, None
