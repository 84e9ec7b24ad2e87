"""Fails checkpoint-chain-check: calls its own checkpoint, not the one it got."""

outer = checkpoint


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    start = 0
    for end in cuts:
        segment = fns[start:end]
        if len(segment) == 1:
            x = segment[0](x)
        else:
            x = outer(partial(in_order, segment), x)
        start = end
    return x
