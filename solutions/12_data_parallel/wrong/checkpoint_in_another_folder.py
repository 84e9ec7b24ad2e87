"""Fails checkpoint-check: writes the new file in the system's folder for temporary files, perhaps on another disk."""


def save_checkpoint(path, model, optimizer, epoch, step):
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "place": (epoch, step),
        "random": torch.get_rng_state(),
    }
    new = Path(tempfile.mkstemp()[1])
    torch.save(state, new)
    os.replace(new, path)


def load_checkpoint(path, model, optimizer):
    if not path.exists():
        return 0, 0
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return tuple(state["place"])
