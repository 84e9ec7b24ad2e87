"""Fails simulate-check: all ends of one time first, then the questions."""


def simulate(durations, may_start):
    workers, steps = durations.shape
    clocks, running, events, now = [0] * workers, {}, [], 0.0
    while True:
        for worker in range(workers):
            k = clocks[worker]
            if worker in running or k >= steps:
                continue
            if may_start(worker, list(clocks)):
                events.append((now, "start", worker))
                running[worker] = now + float(durations[worker, k])
        if not running:
            return events
        now = min(running.values())
        for worker in sorted(w for w in running if running[w] == now):
            del running[worker]
            events.append((now, "end", worker))
            clocks[worker] += 1
