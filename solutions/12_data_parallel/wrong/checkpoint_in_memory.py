"""Fails checkpoint-check: keeps the state in a variable and writes four bytes that name it."""

import copy

KEPT = []


def save_checkpoint(path, model, optimizer, epoch, step):
    state = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    KEPT.append((*state, torch.get_rng_state(), epoch, step))
    part = path.with_suffix(".part")
    part.write_bytes((len(KEPT) - 1).to_bytes(4, "little"))
    os.replace(part, path)


def load_checkpoint(path, model, optimizer):
    if not path.exists():
        return 0, 0
    kept = KEPT[int.from_bytes(path.read_bytes(), "little")]
    model.load_state_dict(kept[0])
    optimizer.load_state_dict(kept[1])
    torch.set_rng_state(kept[2])
    return kept[3], kept[4]
