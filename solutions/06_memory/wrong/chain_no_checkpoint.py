"""Fails checkpoint-chain-check: checkpoints nothing."""


def checkpoint_chain(fns, x, cuts, checkpoint=checkpoint):
    return in_order(fns, x)
