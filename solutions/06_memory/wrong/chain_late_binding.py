"""Fails checkpoint-chain-check: sees the last segment when it is called again."""


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    start = 0
    for end in cuts:
        segment = fns[start:end]
        if len(segment) == 1:
            x = segment[0](x)
        else:
            x = checkpoint(lambda x: in_order(segment, x), x)
        start = end
    return x
