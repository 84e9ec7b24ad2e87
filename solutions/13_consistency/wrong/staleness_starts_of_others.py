"""Fails staleness-check: counts starts in place of ends."""


def staleness(events):
    ended, seen, found = 0, {}, []
    for _, kind, worker in events:
        if kind == "start":
            seen[worker] = ended
            ended += 1
        else:
            found.append(ended - seen[worker] - 1)
    return found
