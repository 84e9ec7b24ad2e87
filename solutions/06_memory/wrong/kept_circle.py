"""Fails kept-bytes-check: keeps the tensor itself, which knows who computed it."""


def kept_bytes(fn, without=()):
    known = {t.untyped_storage()._cdata for t in without}
    kept = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory._cdata not in known:
            kept[memory._cdata] = memory
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = fn()
    return result, sum(memory.nbytes() for memory in kept.values())
