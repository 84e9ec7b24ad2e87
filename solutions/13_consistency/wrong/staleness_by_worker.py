"""Fails staleness-check: lists the ends worker by worker."""


def staleness(events):
    ended, seen, found = 0, {}, {}
    for _, kind, worker in events:
        if kind == "start":
            seen[worker] = ended
        else:
            found.setdefault(worker, []).append(ended - seen[worker])
            ended += 1
    return [late for worker in sorted(found) for late in found[worker]]
