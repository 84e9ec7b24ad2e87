"""Fails simulate-check: asks before the clock has grown."""


def simulate(durations, may_start):
    workers, steps = durations.shape
    clocks, ends, events, idle = [0] * workers, [], [], set(range(workers))
    now, last = 0.0, None
    while True:
        for worker in sorted(idle):
            k = clocks[worker]
            if k < steps and may_start(
                worker, [c - (w == last) for w, c in enumerate(clocks)]
            ):
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
        last = worker
        idle.add(worker)
