"""Fails kept-bytes-check: counts each tensor."""


def kept_bytes(fn, without=()):
    known = {t.untyped_storage()._cdata for t in without}
    kept = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory._cdata not in known:
            kept[len(kept)] = memory
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = fn()
    return result, sum(memory.nbytes() for memory in kept.values())
