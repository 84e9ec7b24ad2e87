"""Fails measure-check: the first call is measured."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    for _ in range(repeat):
        states = {name: before() for name, (before, _) in metrics.items()}
        result = call()
        for name, (_, after) in reversed(metrics.items()):
            found[name].append(after(states[name], result))
    return found
