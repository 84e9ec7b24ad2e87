"""Fails shard-check: leaves out what does not divide by P."""


def shard(indices, rank, world_size, epoch):
    order = np.random.default_rng(epoch).permutation(indices)
    whole = len(order) // world_size * world_size
    return order[:whole][rank::world_size]
