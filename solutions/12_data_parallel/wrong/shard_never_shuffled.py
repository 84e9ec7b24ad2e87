"""Fails shard-check: deals the indices out in their own order."""


def shard(indices, rank, world_size, epoch):
    return np.asarray(indices)[rank::world_size]
