"""Fails shard-check: the epoch is not the seed: one order for ever."""


def shard(indices, rank, world_size, epoch):
    order = np.random.default_rng(0).permutation(indices)
    return order[rank::world_size]
