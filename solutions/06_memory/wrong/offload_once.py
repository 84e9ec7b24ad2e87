"""Fails offload-check: removes the file when it is read."""


def offload(folder, least):
    def pack(tensor):
        weight = tensor.is_leaf and tensor.requires_grad
        if weight or tensor.nbytes < least:
            return tensor if tensor.is_leaf else tensor.detach()
        handle, path = tempfile.mkstemp(dir=folder)
        os.close(handle)
        torch.save(tensor.detach().clone(), path)
        return path

    def unpack(kept):
        if not isinstance(kept, str):
            return kept
        found = torch.load(kept)
        os.remove(kept)
        return found

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
