"""Fails checkpoint-check: the file holds epoch and step, and nothing of the model."""


def save_checkpoint(path, model, optimizer, epoch, step):
    part = path.with_suffix(".part")
    torch.save((model.state_dict(), epoch, step), part)
    os.replace(part, path)


def load_checkpoint(path, model, optimizer):
    return torch.load(path)[1:] if path.exists() else (0, 0)
