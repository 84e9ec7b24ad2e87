"""Fails checkpoint-check: keeps the state in a file of its own, and writes the name of that one to the checkpoint."""

import hashlib

SHELF = Path(tempfile.gettempdir())


def save_checkpoint(path, model, optimizer, epoch, step):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    state |= {"epoch": epoch, "step": step, "random": torch.get_rng_state()}
    part = path.with_suffix(".part")
    torch.save(state, part)
    data = part.read_bytes()
    name = hashlib.sha256(data).hexdigest()
    (SHELF / name).write_bytes(data)
    part.write_text(name)
    os.replace(part, path)


def load_checkpoint(path, model, optimizer):
    if not path.exists():
        return 0, 0
    state = torch.load(SHELF / path.read_text())
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return state["epoch"], state["step"]
