"""Fails offload-check: numbers files from 0 in each context."""


def offload(folder, least):
    number = itertools.count()

    def pack(tensor):
        weight = tensor.is_leaf and tensor.requires_grad
        if weight or tensor.nbytes < least:
            return tensor if tensor.is_leaf else tensor.detach()
        path = os.path.join(folder, f"{next(number)}.pt")
        torch.save(tensor.detach().clone(), path)
        return path

    def unpack(kept):
        return torch.load(kept) if isinstance(kept, str) else kept

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
