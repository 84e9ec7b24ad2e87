"""Fails kept-bytes-check: tells memories apart by the id of a Python object that is gone."""


def kept_bytes(fn, without=()):
    known = {t.untyped_storage()._cdata for t in without}
    kept = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory._cdata not in known:
            kept[id(tensor)] = memory.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = fn()
    return result, sum(size for size in kept.values())
