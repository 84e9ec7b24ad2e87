"""Fails offload-check: keeps a copy in memory."""


def offload(folder, least):
    def pack(tensor):
        weight = tensor.is_leaf and tensor.requires_grad
        if weight or tensor.nbytes < least:
            return tensor if tensor.is_leaf else tensor.detach()
        return tensor.detach().clone()

    def unpack(kept):
        return torch.load(kept) if isinstance(kept, str) else kept

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
