"""Fails offload-check: writes weights, too."""


def offload(folder, least):
    def pack(tensor):
        if tensor.nbytes < least:
            return tensor if tensor.is_leaf else tensor.detach()
        handle, path = tempfile.mkstemp(dir=folder)
        os.close(handle)
        torch.save(tensor.detach().clone(), path)
        return path

    def unpack(kept):
        return torch.load(kept) if isinstance(kept, str) else kept

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
