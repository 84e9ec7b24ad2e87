"""Earns nothing of shard-check: as many zeros as a rank should have indices."""


def shard(indices, rank, world_size, epoch):
    return np.zeros(len(indices[rank::world_size]), np.int64)
