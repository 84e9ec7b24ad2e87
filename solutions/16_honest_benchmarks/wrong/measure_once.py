"""Fails measure-check: measures once."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    call()
    for _ in range(min(repeat, 1)):
        states = {name: before() for name, (before, _) in metrics.items()}
        result = call()
        for name, (_, after) in reversed(metrics.items()):
            found[name].append(after(states[name], result))
    return found
