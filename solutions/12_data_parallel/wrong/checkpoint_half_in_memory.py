"""Fails checkpoint-check: keeps the optimiser and the random state in a variable, which dies with the process."""

import copy

KEEP = {}


def save_checkpoint(path, model, optimizer, epoch, step):
    KEEP.update(
        optimizer=copy.deepcopy(optimizer.state_dict()),
        random=torch.get_rng_state(),
    )
    torch.save(
        {"model": model.state_dict(), "place": (epoch, step)},
        path.with_name("new"),
    )
    os.replace(path.with_name("new"), path)


def load_checkpoint(path, model, optimizer):
    if not path.exists():
        return 0, 0
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(KEEP["optimizer"])
    torch.set_rng_state(KEEP["random"])
    return tuple(state["place"])
