"""Fails simulate-check: hands out clocks that stay at 0."""


def simulate(durations, may_start):
    workers, steps = durations.shape
    done, ends, events, idle = [0] * workers, [], [], set(range(workers))
    clocks, now = [0] * workers, 0.0
    while True:
        for worker in sorted(idle):
            k = done[worker]
            if k < steps and may_start(worker, clocks):
                events.append((now, "start", worker))
                heapq.heappush(
                    ends, (now + float(durations[worker, k]), worker)
                )
                idle.remove(worker)
        if not ends:
            return events
        now, worker = heapq.heappop(ends)
        events.append((now, "end", worker))
        done[worker] += 1
        idle.add(worker)
