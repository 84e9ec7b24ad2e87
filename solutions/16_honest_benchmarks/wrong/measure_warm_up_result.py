"""Fails measure-check: the result of the warm-up."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    result = call()
    for _ in range(repeat):
        states = {name: before() for name, (before, _) in metrics.items()}
        call()
        for name, (_, after) in reversed(metrics.items()):
            found[name].append(after(states[name], result))
    return found
