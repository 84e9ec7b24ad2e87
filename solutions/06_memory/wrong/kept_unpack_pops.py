"""Fails kept-bytes-check: unpack takes what was kept out of the store, so a second backward with retain_graph=True fails."""


def kept_bytes(fn, without=()):
    """Return what fn() returns, and the bytes that autograd keeps for it."""
    known = {t.untyped_storage()._cdata for t in without}
    store, memories = {}, {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory._cdata not in known:
            memories[memory._cdata] = memory
        number = len(memories), len(store)
        while number in store:
            number = number[0], number[1] + 1
        store[number] = tensor.detach()
        return number

    def unpack(number):
        return store.pop(number)

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        result = fn()
    size = sum(memory.nbytes() for memory in memories.values())
    memories.clear()
    return result, size
