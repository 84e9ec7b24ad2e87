"""Fails measure-check: a warm-up before each repetition."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    if not repeat:
        call()
    for _ in range(repeat):
        call()
        states = {name: before() for name, (before, _) in metrics.items()}
        result = call()
        for name, (_, after) in reversed(metrics.items()):
            found[name].append(after(states[name], result))
    return found
