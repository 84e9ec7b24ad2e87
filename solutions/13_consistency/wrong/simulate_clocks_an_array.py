"""Fails simulate-check: hands the rule an array for the list of clocks."""


def simulate(durations: np.ndarray, may_start) -> list[tuple]:
    durations = np.asarray(durations)
    workers, steps = durations.shape
    clocks, heap, events = np.zeros(workers, int), [], []
    busy = [False] * workers

    def ask(now):
        for w in range(workers):
            if not busy[w] and clocks[w] < steps and may_start(w, clocks):
                busy[w] = True
                events.append((now, "start", w))
                heapq.heappush(heap, (now + float(durations[w, clocks[w]]), w))

    ask(0.0)
    while heap:
        now, w = heapq.heappop(heap)
        busy[w] = False
        clocks[w] += 1
        events.append((now, "end", w))
        ask(now)
    return events
