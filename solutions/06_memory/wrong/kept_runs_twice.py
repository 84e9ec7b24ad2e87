"""Fails kept-bytes-check: fn is called twice: once to count (the generator is put back), once for the result."""


def kept_bytes(fn, without=()):
    """Return what fn() returns, and the bytes that autograd keeps for it."""
    known = {t.untyped_storage()._cdata for t in without}
    found = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory._cdata not in known:
            found[memory._cdata] = memory  # keeps it alive: no number twice
        return tensor.detach()

    with (
        torch.random.fork_rng(devices=[]),
        torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t),
    ):
        fn()
    size = sum(memory.nbytes() for memory in found.values())
    found.clear()
    return fn(), size
