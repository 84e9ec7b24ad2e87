"""Fails checkpoint-check: seeds the generator with the step instead of restoring its state."""


def save_checkpoint(path, model, optimizer, epoch, step):
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "place": (epoch, step),
        "random": torch.get_rng_state(),
    }
    torch.save(state, path.with_name("new"))
    os.replace(path.with_name("new"), path)


def load_checkpoint(path, model, optimizer):
    if not path.exists():
        return 0, 0
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.manual_seed(state["place"][1])
    return tuple(state["place"])
