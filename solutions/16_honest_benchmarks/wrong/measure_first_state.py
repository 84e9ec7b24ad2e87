"""Fails measure-check: the state of the first repetition."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    call()
    states = {}
    for _ in range(repeat):
        for name, (before, _) in metrics.items():
            states.setdefault(name, before())
        result = call()
        for name, (_, after) in reversed(metrics.items()):
            found[name].append(after(states[name], result))
    return found
