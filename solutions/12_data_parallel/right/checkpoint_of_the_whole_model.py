"""Right: the model itself is pickled, and its state taken from it."""


def save_checkpoint(
    path: Path, model, optimizer, epoch: int, step: int
) -> None:
    new = path.with_name("new")
    torch.save(
        (model, optimizer.state_dict(), torch.get_rng_state(), epoch, step), new
    )
    os.replace(new, path)


def load_checkpoint(path: Path, model, optimizer) -> tuple[int, int]:
    if not path.exists():
        return 0, 0
    saved, memory, random, epoch, step = torch.load(path, weights_only=False)
    model.load_state_dict(saved.state_dict())
    optimizer.load_state_dict(memory)
    torch.set_rng_state(random)
    return epoch, step
