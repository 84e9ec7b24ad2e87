"""Fails checkpoint-check: weights are saved as float32."""


def save_checkpoint(path, model, optimizer, epoch, step):
    """Write the whole state of a training to a file, at once or not at all."""
    new = path.with_name(path.name + ".new")
    torch.save(
        {
            "model": {k: v.float() for k, v in model.state_dict().items()},
            "optimizer": optimizer.state_dict(),
            "place": (epoch, step),
            "random": torch.get_rng_state(),
        },
        new,
    )
    os.replace(new, path)


def load_checkpoint(path, model, optimizer):
    """Restore a training; return the epoch and step it goes on with."""
    if not path.exists():
        return 0, 0
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return state["place"]
