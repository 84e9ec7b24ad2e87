"""Right: parameters and buffers by name, without state_dict."""


def save_checkpoint(
    path: Path, model, optimizer, epoch: int, step: int
) -> None:
    state = {
        "parameters": {
            name: p.detach() for name, p in model.named_parameters()
        },
        "buffers": dict(model.named_buffers()),
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
        "place": (epoch, step),
    }
    new = path.parent / (path.name + ".new")
    torch.save(state, new)
    os.replace(new, path)


def load_checkpoint(path: Path, model, optimizer) -> tuple[int, int]:
    if not path.exists():
        return 0, 0
    state = torch.load(path)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(state["parameters"][name])
        for name, b in model.named_buffers():
            b.copy_(state["buffers"][name])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return state["place"]
