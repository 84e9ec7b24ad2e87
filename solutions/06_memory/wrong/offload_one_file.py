"""Fails offload-check: writes all to one file."""


def offload(folder, least):
    def pack(tensor):
        weight = tensor.is_leaf and tensor.requires_grad
        if weight or tensor.nbytes < least:
            return tensor if tensor.is_leaf else tensor.detach()
        path = os.path.join(folder, "kept.pt")
        torch.save(tensor.detach().clone(), path)
        return path

    def unpack(kept):
        return torch.load(kept) if isinstance(kept, str) else kept

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
