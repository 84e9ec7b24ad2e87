"""Fails kept-bytes-check: returns the bytes only."""


def kept_bytes(fn, without=()):
    known = {t.untyped_storage()._cdata for t in without}
    kept = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory._cdata not in known:
            kept[memory._cdata] = memory
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        fn()
    return sum(memory.nbytes() for memory in kept.values())
