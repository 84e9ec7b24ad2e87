"""Fails measure-check: one metric after the other."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    call()
    for name, (before, after) in metrics.items():
        for _ in range(repeat):
            state = before()
            found[name].append(after(state, call()))
    return found
