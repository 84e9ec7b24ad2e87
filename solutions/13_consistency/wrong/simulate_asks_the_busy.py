"""Fails simulate-check: asks who is at work, or has no step left, as well."""


def simulate(durations: np.ndarray, may_start) -> list[tuple]:
    durations = np.asarray(durations)
    workers, steps = durations.shape
    clocks, heap, events = [0] * workers, [], []
    busy = set()

    def ask(now):
        for w in range(workers):
            willing = may_start(w, clocks)
            if willing and w not in busy and clocks[w] < steps:
                busy.add(w)
                events.append((now, "start", w))
                heapq.heappush(heap, (now + float(durations[w, clocks[w]]), w))

    ask(0.0)
    while heap:
        now, w = heapq.heappop(heap)
        busy.discard(w)
        clocks[w] += 1
        events.append((now, "end", w))
        ask(now)
    return events
