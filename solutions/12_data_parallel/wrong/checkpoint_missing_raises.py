"""Fails checkpoint-check: without a checkpoint it fails instead of beginning."""


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
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return tuple(state["place"])
