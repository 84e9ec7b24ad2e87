"""Fails checkpoint-chain-check: checkpoints each function by itself."""


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    start = 0
    for end in cuts:
        segment = fns[start:end]
        if len(segment) == 1:
            x = segment[0](x)
        else:
            for fn in segment:
                x = checkpoint(fn, x)
        start = end
    return x
