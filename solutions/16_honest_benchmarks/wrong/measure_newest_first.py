"""Fails measure-check: the newest number first."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    call()
    for _ in range(repeat):
        states = {name: before() for name, (before, _) in metrics.items()}
        result = call()
        for name, (_, after) in reversed(metrics.items()):
            found[name].insert(0, after(states[name], result))
    return found
