"""Fails staleness-check: sorts events of the same time by their kind."""


def staleness(events):
    ended, seen, found = 0, {}, []
    for _, kind, worker in sorted(events):
        if kind == "start":
            seen[worker] = ended
        else:
            found.append(ended - seen[worker])
            ended += 1
    return found
