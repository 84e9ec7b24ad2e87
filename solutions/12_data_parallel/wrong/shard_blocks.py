"""Fails shard-check: cuts the permutation into P blocks instead of dealing it out."""


def shard(indices, rank, world_size, epoch):
    order = np.random.default_rng(epoch).permutation(indices)
    return np.array_split(order, world_size)[rank]
