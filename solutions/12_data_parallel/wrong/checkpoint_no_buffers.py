"""Fails checkpoint-check: saves parameters without buffers."""


def save_checkpoint(path, model, optimizer, epoch, step):
    state = {
        "model": [p.detach().clone() for p in model.parameters()],
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
    with torch.no_grad():
        for p, value in zip(model.parameters(), state["model"]):
            p.copy_(value)
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return tuple(state["place"])
