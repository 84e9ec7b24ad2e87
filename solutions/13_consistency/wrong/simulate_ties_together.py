"""Fails simulate-check: takes all ends of a time before anybody is asked."""


def simulate(durations: np.ndarray, may_start) -> list[tuple]:
    durations = np.asarray(durations)
    workers, steps = durations.shape
    clocks, heap, events = [0] * workers, [], []
    busy = [False] * workers

    def ask(now):
        for w in range(workers):
            if not busy[w] and clocks[w] < steps and may_start(w, clocks):
                busy[w] = True
                events.append((now, "start", w))
                heapq.heappush(heap, (now + float(durations[w, clocks[w]]), w))

    ask(0.0)
    while heap:
        now = heap[0][0]
        while heap and heap[0][0] == now:
            _, w = heapq.heappop(heap)
            busy[w] = False
            clocks[w] += 1
            events.append((now, "end", w))
        ask(now)
    return events
