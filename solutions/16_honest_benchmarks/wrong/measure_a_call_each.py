"""Fails measure-check: a call for each metric."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    call()
    for _ in range(repeat):
        states = {name: before() for name, (before, _) in metrics.items()}
        for name, (_, after) in reversed(metrics.items()):
            found[name].append(after(states[name], call()))
    return found
