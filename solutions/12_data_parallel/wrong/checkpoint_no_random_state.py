"""Fails checkpoint-check: dropout draws other numbers after the restart."""


def save_checkpoint(path, model, optimizer, epoch, step):
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "place": (epoch, step),
    }
    torch.save(state, path.with_name("new"))
    os.replace(path.with_name("new"), path)


def load_checkpoint(path, model, optimizer):
    if not path.exists():
        return 0, 0
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return tuple(state["place"])
