"""Fails checkpoint-chain-check: run looks into the caller's list when it is called again."""


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    """Return fns[-1](... fns[0](x)), in segments that end at cuts."""

    def segment(x, start, end):
        for i in range(start, end):
            x = fns[i](x)
        return x

    start = 0
    for end in cuts:
        if end - start == 1:
            x = fns[start](x)
        else:
            x = checkpoint(partial(segment, start=start, end=end), x)
        start = end
    return x
