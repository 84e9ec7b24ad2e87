"""Fails checkpoint-check: writes a second file well, then copies its bytes over the old one."""


def save_checkpoint(path, model, optimizer, epoch, step):
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "place": (epoch, step),
        "random": torch.get_rng_state(),
    }
    torch.save(state, path.with_name("new"))
    path.write_bytes(path.with_name("new").read_bytes())


def load_checkpoint(path, model, optimizer):
    if not path.exists():
        return 0, 0
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return tuple(state["place"])
