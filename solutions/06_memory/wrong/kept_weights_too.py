"""Fails kept-bytes-check: counts weights and data, too."""


def kept_bytes(fn, without=()):
    kept = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if True:
            kept[memory._cdata] = memory
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = fn()
    return result, sum(memory.nbytes() for memory in kept.values())
