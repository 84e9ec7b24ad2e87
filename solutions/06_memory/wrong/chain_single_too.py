"""Fails checkpoint-chain-check: checkpoints single functions, too."""


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    start = 0
    for end in cuts:
        segment = fns[start:end]
        if not segment:
            x = segment[0](x)
        else:
            x = checkpoint(partial(in_order, segment), x)
        start = end
    return x
