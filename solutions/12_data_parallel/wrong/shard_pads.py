"""Fails shard-check: repeats indices until all shards are equally long, as DistributedSampler does."""


def shard(indices, rank, world_size, epoch):
    order = np.random.default_rng(epoch).permutation(indices)
    order = np.resize(order, -(-len(order) // world_size) * world_size)
    return order[rank::world_size]
