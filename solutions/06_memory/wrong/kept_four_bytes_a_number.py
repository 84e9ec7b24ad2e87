"""Fails kept-bytes-check: takes every number for four bytes."""


def kept_bytes(fn, without=()):
    known = {t.untyped_storage()._cdata for t in without}
    kept, known_sizes = {}, []

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory._cdata not in known:
            known_sizes.append(memory)
            kept[memory._cdata] = memory.nbytes() // tensor.element_size() * 4
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = fn()
    return result, sum(m for m in kept.values())
