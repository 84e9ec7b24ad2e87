"""Fails simulate-check: does not ask whether a worker may start."""


def simulate(durations, may_start):
    workers, steps = durations.shape
    clocks, ends, events, idle = [0] * workers, [], [], set(range(workers))
    now = 0.0
    while True:
        for worker in sorted(idle):
            k = clocks[worker]
            if k < steps:
                events.append((now, "start", worker))
                heapq.heappush(
                    ends, (now + float(durations[worker, k]), worker)
                )
                idle.remove(worker)
        if not ends:
            return events
        now, worker = heapq.heappop(ends)
        events.append((now, "end", worker))
        clocks[worker] += 1
        idle.add(worker)
