"""The same written another way: no heap, counting backwards, loops over numbers, sums kept, other containers."""


def predictions():
    return {"stale": 15, "without_two": np.float32(11.5), "together": 16 / 3}


def simulate(durations, may_start):
    workers, steps = durations.shape
    until, clocks, events = {}, dict.fromkeys(range(workers), 0), []

    def ask(now):
        for w in range(workers):
            waiting = w not in until and clocks[w] < steps
            if waiting and may_start(w, list(clocks.values())):
                until[w] = now + float(durations[w][clocks[w]])
                events.append((now, "start", w))

    ask(0)
    while until:
        now = min(until.values())
        first = min(w for w, end in until.items() if end == now)
        del until[first]
        clocks[first] += 1
        events.append((now, "end", first))
        ask(now)
    return events


def within(worker, clocks, slack):
    return not any(clocks[worker] > other + slack for other in clocks)


def staleness(events):
    found = []
    for at, (_, kind, worker) in enumerate(events):
        if kind != "end":
            continue
        others = 0
        for _, before, who in events[:at][::-1]:
            if who == worker and before == "start":
                break
            others += before == "end"
        found.append(others)
    return found


def backup_workers(durations, needed):
    workers, steps = durations.shape
    events, now = [], 0.0
    for k in range(steps):
        order = sorted((durations[w, k], w) for w in range(workers))[:needed]
        events.extend((now, "start", w) for w in range(workers))
        events.extend((now + seconds, "end", w) for seconds, w in order)
        now = now + order[-1][0]
    return events


class Server:
    def __init__(self, weights, rate, aware=False):
        self.weights = np.array(weights, np.float32)
        self.rate, self.aware, self.arrived = rate, aware, {}

    def pull(self, worker):
        self.arrived[worker] = 0
        return np.array(self.weights)

    def push(self, worker, gradient):
        rate = self.rate
        if self.aware:
            rate = rate / (self.arrived[worker] + 1)
        self.weights -= np.array(rate * gradient, np.float32)
        for each in self.arrived:
            self.arrived[each] += 1


def mixing(workers, edges):
    near = np.zeros((workers, workers), bool)
    for a, b in edges:
        near[a, b] = near[b, a] = True
    degree = near.sum(axis=1)
    matrix = near / (1 + np.maximum(degree, degree[:, None]))
    matrix[np.arange(workers), np.arange(workers)] = 1 - matrix.sum(axis=1)
    return matrix


def shrinks(matrix):
    n = len(matrix)
    return np.linalg.norm(matrix - np.ones((n, n)) / n, 2)


def round_ends(durations, every):
    now, ends = 0.0, []
    alone = [0.0] * len(durations)
    for k in range(durations.shape[1]):
        alone = [t + own[k] for t, own in zip(alone, durations, strict=True)]
        if (k + 1) % every == 0:
            now += max(alone)
            ends.append(now)
            alone = [0.0] * len(durations)
    return np.array(ends)


def outer_step(begin, ends, velocity, rate, momentum):
    gone = (begin - ends).mean(axis=0)
    moved = gone + momentum * velocity
    return begin - rate * gone - rate * momentum * moved, moved


class Node:
    def __init__(self, parent, name, every):
        self.ask = lambda: parent.pull(name)
        self.tell = lambda mean: parent.push(name, mean)
        self.every, self.held, self.left = every, self.ask(), every
        self.total = np.zeros_like(self.held)

    def pull(self, worker):
        return np.array(self.held)

    def push(self, worker, gradient):
        self.total = self.total + gradient
        self.left -= 1
        if self.left == 0:
            self.tell(self.total / np.float32(self.every))
            self.held, self.left = self.ask(), self.every
            self.total = np.zeros_like(self.held)
