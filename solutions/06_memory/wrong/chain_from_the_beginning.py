"""Fails checkpoint-chain-check: begins every segment at the first function."""


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    start = 0
    for end in cuts:
        segment = fns[start:end]
        if len(segment) == 1:
            x = segment[0](x)
        else:
            x = checkpoint(partial(in_order, segment), x)
    return x
