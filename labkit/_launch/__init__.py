"""Functions in other processes: ranks that torch.distributed connects, or one process of its own."""
