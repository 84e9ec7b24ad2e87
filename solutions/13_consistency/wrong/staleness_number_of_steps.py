"""Fails staleness-check: the number of all ends so far."""


def staleness(events):
    ended, seen, found = 0, {}, []
    for _, kind, worker in events:
        if kind == "start":
            seen[worker] = ended
        else:
            found.append(ended)
            ended += 1
    return found
