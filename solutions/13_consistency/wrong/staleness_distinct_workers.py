"""Fails staleness-check: counts each of the others once."""


def staleness(events):
    seen, found = {}, []
    for _, kind, worker in events:
        if kind == "start":
            seen[worker] = set()
        else:
            found.append(len(seen[worker] - {worker}))
            for others in seen.values():
                others.add(worker)
    return found
