"""Fails shard-check: returns places in the array instead of the indices that stand there."""


def shard(indices, rank, world_size, epoch):
    order = np.random.default_rng(epoch).permutation(len(indices))
    return order[rank::world_size]
