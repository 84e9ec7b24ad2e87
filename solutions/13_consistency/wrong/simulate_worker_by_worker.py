"""Fails simulate-check: plays one worker after the other, and sorts."""


def simulate(durations, may_start):
    workers, steps = durations.shape
    events, clocks = [], [0] * workers
    for worker in range(workers):
        now = 0.0
        for k in range(steps):
            if may_start(worker, clocks):
                events.append((now, "start", worker))
                now += float(durations[worker, k])
                events.append((now, "end", worker))
    return sorted(events, key=lambda event: (event[0], event[1], event[2]))
