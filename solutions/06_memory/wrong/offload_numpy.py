"""Fails offload-check: goes through NumPy, which has no bfloat16."""


def offload(folder, least):
    def pack(tensor):
        weight = tensor.is_leaf and tensor.requires_grad
        if weight or tensor.nbytes < least:
            return tensor if tensor.is_leaf else tensor.detach()
        handle, path = tempfile.mkstemp(dir=folder)
        os.close(handle)
        np.save(path + ".npy", tensor.detach().numpy())
        os.remove(path)
        return path + ".npy"

    def unpack(kept):
        return (
            torch.from_numpy(np.load(kept)) if isinstance(kept, str) else kept
        )

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
