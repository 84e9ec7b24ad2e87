"""Fails simulate-check: sends the last one on when nobody may start."""


def simulate(durations: np.ndarray, may_start) -> list[tuple]:
    durations = np.asarray(durations)
    workers, steps = durations.shape
    clocks, heap, events = [0] * workers, [], []
    busy = [False] * workers
    now = 0.0

    def begin(w):
        busy[w] = True
        events.append((now, "start", w))
        heapq.heappush(heap, (now + float(durations[w, clocks[w]]), w))

    while min(clocks, default=steps) < steps:
        for w in range(workers):
            if not busy[w] and clocks[w] < steps and may_start(w, clocks):
                begin(w)
        if not heap:  # nobody at work: let the one that is behind go on
            begin(clocks.index(min(clocks)))
        now, w = heapq.heappop(heap)
        busy[w] = False
        clocks[w] += 1
        events.append((now, "end", w))
    return events
