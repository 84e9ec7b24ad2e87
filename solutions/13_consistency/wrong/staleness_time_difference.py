"""Fails staleness-check: the seconds, not the ends."""


def staleness(events):
    ended, seen, found = 0, {}, []
    for now, kind, worker in events:
        if kind == "start":
            seen[worker] = now
        else:
            found.append(int(now - seen[worker]))
            ended += 1
    return found
