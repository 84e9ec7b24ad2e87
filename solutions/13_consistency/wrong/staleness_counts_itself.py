"""Fails staleness-check: one more: its own end."""


def staleness(events):
    ended, seen, found = 0, {}, []
    for _, kind, worker in events:
        if kind == "start":
            seen[worker] = ended
        else:
            ended += 1
            found.append(ended - seen[worker])
    return found
