"""Fails checkpoint-chain-check: leaves the last function of a segment out."""


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    start = 0
    for end in cuts:
        segment = fns[start : end - 1] or fns[start:end]
        if len(segment) == 1:
            x = segment[0](x)
        else:
            x = checkpoint(partial(in_order, segment), x)
        start = end
    return x
