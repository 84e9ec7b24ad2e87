"""Fails checkpoint-check: of the optimiser only momenta are saved."""


def save_checkpoint(path, model, optimizer, epoch, step):
    """Write the whole state of a training to a file, at once or not at all."""
    new = path.with_name(path.name + ".new")
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": [
                optimizer.state[p].get("momentum_buffer")
                for g in optimizer.param_groups
                for p in g["params"]
            ],
            "rates": [g["lr"] for g in optimizer.param_groups],
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
    for group, rate in zip(optimizer.param_groups, state["rates"], strict=True):
        group["lr"] = rate
    every = [p for g in optimizer.param_groups for p in g["params"]]
    for p, momentum in zip(every, state["optimizer"], strict=True):
        optimizer.state.pop(p, None)
        if momentum is not None:
            optimizer.state[p]["momentum_buffer"] = momentum
    torch.set_rng_state(state["random"])
    return state["place"]
