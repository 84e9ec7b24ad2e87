"""Fails checkpoint-chain-check: removes what is done from the list."""


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    start = 0
    for end in cuts:
        segment = fns[: end - start]
        del fns[: end - start]
        if len(segment) == 1:
            x = segment[0](x)
        else:
            x = checkpoint(partial(in_order, segment), x)
        start = end
    return x
