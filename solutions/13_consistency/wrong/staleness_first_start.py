"""Fails staleness-check: counts from the first start of the worker."""


def staleness(events):
    ended, seen, found = 0, {}, []
    for _, kind, worker in events:
        if kind == "start":
            seen.setdefault(worker, ended)
        else:
            found.append(ended - seen[worker])
            ended += 1
    return found
