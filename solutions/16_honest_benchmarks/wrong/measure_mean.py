"""Fails measure-check: the mean, not the list."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    call()
    for _ in range(repeat):
        states = {name: before() for name, (before, _) in metrics.items()}
        result = call()
        for name, (_, after) in reversed(metrics.items()):
            found[name].append(after(states[name], result))
    return {n: sum(v) / max(len(v), 1) for n, v in found.items()}
