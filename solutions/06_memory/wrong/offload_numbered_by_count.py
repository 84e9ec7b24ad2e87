"""Fails offload-check: a file's name is the number of files in the folder."""


def offload(folder, least: int):
    """Return a context in which large kept tensors wait in files."""
    folder = Path(folder)

    def pack(tensor):
        if tensor.nbytes < least or (tensor.is_leaf and tensor.requires_grad):
            return tensor.detach()
        path = folder / f"{len(list(folder.iterdir()))}.pt"
        torch.save(tensor.detach().clone(), path)
        return path

    def unpack(packed):
        return torch.load(packed) if isinstance(packed, Path) else packed

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)
