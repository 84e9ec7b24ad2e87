"""Fails simulate-check: asks who has been idle longest first."""


def simulate(durations: np.ndarray, may_start) -> list[tuple]:
    durations = np.asarray(durations)
    workers, steps = durations.shape
    clocks, heap, events = [0] * workers, [], []
    waiting = list(range(workers))  # longest waiting first
    now = 0.0

    def ask():
        for w in list(waiting):
            if clocks[w] < steps and may_start(w, clocks):
                waiting.remove(w)
                events.append((now, "start", w))
                heapq.heappush(heap, (now + float(durations[w, clocks[w]]), w))

    ask()
    while heap:
        now, w = heapq.heappop(heap)
        clocks[w] += 1
        events.append((now, "end", w))
        waiting.append(w)
        if len(waiting) == workers:
            waiting.sort()
        ask()
    return events
