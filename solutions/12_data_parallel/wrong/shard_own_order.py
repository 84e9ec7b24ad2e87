"""Fails shard-check: each rank draws its own permutation, so that shards overlap."""


def shard(indices, rank, world_size, epoch):
    order = np.random.default_rng([epoch, rank]).permutation(indices)
    return order[rank::world_size]
