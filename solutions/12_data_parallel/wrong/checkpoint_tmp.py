"""Fails checkpoint-check: the other file has the old one's name if that ends in .tmp."""


def save_checkpoint(path, model, optimizer, epoch, step):
    """Write the whole state of a training to a file, at once or not at all."""
    new = path.with_suffix(".tmp")
    torch.save(
        {
            "model": model.state_dict(),
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
