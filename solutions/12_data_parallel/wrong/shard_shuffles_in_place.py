"""Fails shard-check: shuffles the caller's array."""


def shard(indices, rank, world_size, epoch):
    np.random.default_rng(epoch).shuffle(indices)
    return indices[rank::world_size]
