"""Fails simulate-check: asks all again after each start."""


def simulate(durations, may_start):
    workers, steps = durations.shape
    clocks, ends, events, idle = [0] * workers, [], [], set(range(workers))
    now = 0.0
    while True:
        more = True
        while more:
            more = False
            for worker in sorted(idle):
                k = clocks[worker]
                if k < steps and may_start(worker, list(clocks)):
                    events.append((now, "start", worker))
                    heapq.heappush(
                        ends, (now + float(durations[worker, k]), worker)
                    )
                    idle.remove(worker)
                    more = True
        if not ends:
            return events
        now, worker = heapq.heappop(ends)
        events.append((now, "end", worker))
        clocks[worker] += 1
        idle.add(worker)
