"""Fails measure-check: all metrics get the last one's state."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    call()
    for _ in range(repeat):
        for before, _ in metrics.values():
            state = before()
        result = call()
        for name, (_, after) in reversed(metrics.items()):
            found[name].append(after(state, result))
    return found
