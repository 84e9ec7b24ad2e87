"""Fails offload-check: writes the file and keeps the tensor."""


def offload(folder, least):
    def pack(tensor):
        weight = tensor.is_leaf and tensor.requires_grad
        if weight or tensor.nbytes < least:
            return tensor if tensor.is_leaf else tensor.detach()
        handle, path = tempfile.mkstemp(dir=folder)
        os.close(handle)
        torch.save(tensor.detach().clone(), path)
        return tensor

    def unpack(kept):
        return torch.load(kept) if isinstance(kept, str) else kept

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
