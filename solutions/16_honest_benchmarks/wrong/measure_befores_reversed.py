"""Fails measure-check: before is called in reverse order as well."""


def measure(call, metrics, repeat: int) -> dict[str, list[float]]:
    found = {name: [] for name in metrics}
    call()
    for _ in range(repeat):
        states = {
            name: before() for name, (before, _) in reversed(metrics.items())
        }
        result = call()
        for name, (_, after) in reversed(metrics.items()):
            found[name].append(after(states[name], result))
    return found
