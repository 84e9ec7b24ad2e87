"""Other calls: a byte count by hooks that note pairs, fork_rng, a recursive plan, weights in the upstream gradient."""

from functools import cache


def predictions():
    return {"kept": 9, "resnet": 48.5, "peak": 11}


def layer_storage(layers, batch, itemsize=4):
    def numbers(layer):
        i, o = layer.inputs, layer.outputs
        if layer.kind == "conv":
            return i * o * layer.kernel * layer.kernel
        if layer.kind == "linear":
            return (i + 1) * o
        if layer.kind == "norm":
            return o + o
        return 4 * (i * o + o * o + 2 * o) if layer.kind == "lstm" else 0

    weights = sum(map(numbers, layers)) * itemsize
    each = [
        layer.outputs * layer.places * (6 if layer.kind == "lstm" else 1)
        for layer in layers
    ]
    outputs = sum(each) * batch * itemsize
    return dict(
        zip(
            ("output gradients", "outputs", "weight gradients", "weights"),
            (outputs, outputs, weights, weights),
        )
    )


def kept_bytes(fn, without=()):
    known, seen, total = [t.untyped_storage()._cdata for t in without], [], [0]

    def pack(tensor):
        number = tensor.untyped_storage()._cdata
        if number not in known and number not in [
            t.untyped_storage()._cdata for t in seen
        ]:
            total[0] += tensor.untyped_storage().nbytes()
            seen.append(tensor.detach())
        return tensor.detach(), "kept"

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda pair: pair[0]):
        result = fn()
    return result, total[0]


class Recompute(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, x, ticket):
        ctx.save_for_backward(x)
        ctx.noted = {"state": torch.random.get_rng_state(), "run": run}
        return run(x)

    @staticmethod
    def backward(ctx, upstream):
        (kept,) = ctx.saved_tensors
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.random.set_rng_state(ctx.noted["state"])
            x = kept.detach().clone()
            x.requires_grad = ctx.needs_input_grad[1]
            y = ctx.noted["run"](x)
            (y * upstream).sum().backward()
        return None, x.grad, None


def even_cuts(n):
    best = None
    for k in range(1, n + 1):
        if best is None or k - 1 + n // k < best[0]:
            best = k - 1 + n // k, k
    k, ends, at = best[1], [], 0
    for number in range(k):
        at += -(-(n - at) // (k - number))
        ends.append(at)
    return ends


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    def piece(part):
        def run(x):
            for fn in part:
                x = fn(x)
            return x

        return run

    ends = list(cuts)
    for start, end in zip([0, *ends], ends):
        run = piece(tuple(fns[start:end]))
        x = run(x) if end == start + 1 else checkpoint(run, x)
    return x


def plan_checkpoints(costs, sizes, budget):
    n = len(sizes)

    @cache
    def rest(start, kept):
        if start == n:
            return 0, ()
        found = None
        for end in range(start + 1, n + 1):
            if kept + sum(sizes[start:end]) > budget:
                break
            after = rest(end, kept + sizes[end - 1])
            if after is None:
                continue
            cost = after[0] + (sum(costs[start:end]) if end > start + 1 else 0)
            if found is None or cost < found[0]:
                found = cost, (end, *after[1])
        return found

    plan = rest(0, 0)
    if plan is None:
        raise ValueError("the budget is too small")
    return list(plan[1])


def accumulate(model, loss, x, y, size):
    losses, at = [], 0
    while at < len(x):
        part = loss(model(x[at : at + size]), y[at : at + size])
        share = len(x[at : at + size]) / len(x)
        part.backward(torch.full_like(part, share))
        losses.append(float(part.detach()) * share)
        at += size
    return float(sum(losses))


def offload(folder, least):
    class Elsewhere:
        def __init__(self, tensor):
            import uuid

            self.path = Path(folder) / uuid.uuid4().hex
            torch.save(tensor.contiguous().clone().detach(), self.path)

    def pack(tensor):
        if tensor.nelement() * tensor.element_size() >= least and not (
            tensor.requires_grad and tensor.is_leaf
        ):
            return Elsewhere(tensor)
        return tensor

    def unpack(kept):
        return torch.load(kept.path) if isinstance(kept, Elsewhere) else kept

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
