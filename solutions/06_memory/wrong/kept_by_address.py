"""Fails kept-bytes-check: tells memories apart by address."""


def kept_bytes(fn, without=()):
    known = {t.untyped_storage()._cdata for t in without}
    kept = {}

    def pack(tensor):
        memory, number = tensor.untyped_storage(), tensor.data_ptr()
        if memory._cdata not in known:
            kept[number] = memory
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = fn()
    return result, sum(memory.nbytes() for memory in kept.values())
