"""Fails measure-check: after is called in the same order as before."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    call()
    for _ in range(repeat):
        states = {name: before() for name, (before, _) in metrics.items()}
        result = call()
        for name, (_, after) in metrics.items():
            found[name].append(after(states[name], result))
    return found
