"""Fails simulate-check: rounds the times."""


def simulate(durations, may_start):
    workers, steps = durations.shape
    clocks, ends, events, idle = [0] * workers, [], [], set(range(workers))
    now = 0.0
    while True:
        for worker in sorted(idle):
            k = clocks[worker]
            if k < steps and may_start(worker, list(clocks)):
                events.append((now, "start", worker))
                heapq.heappush(
                    ends, (round(now + float(durations[worker, k])), worker)
                )
                idle.remove(worker)
        if not ends:
            return events
        now, worker = heapq.heappop(ends)
        events.append((now, "end", worker))
        clocks[worker] += 1
        idle.add(worker)
