"""Fails staleness-check: counts from its last end, not its start."""


def staleness(events):
    ended, seen, found = 0, {}, []
    for _, kind, worker in events:
        if kind == "start":
            seen.setdefault(worker, 0)
        else:
            found.append(ended - seen[worker])
            ended += 1
            seen[worker] = ended - 1
    return found
