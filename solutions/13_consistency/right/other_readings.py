"""Other readings of the text: NumPy's numbers, lists for tuples, attributes beside those asked for, helpers, float64 inside."""


def predictions():
    return {"together": np.float64(4), "without_two": 13, "stale": np.int64(15)}


def simulate(durations, may_start):
    seconds = np.asarray(durations, np.float64)
    clocks, events = [0] * len(seconds), []
    busy = np.full(len(seconds), np.inf)

    def begin(now):
        for w in np.flatnonzero(np.isinf(busy)):
            if clocks[w] == seconds.shape[1]:
                continue
            if may_start(int(w), clocks):
                events.append((now, "start", w))
                busy[w] = now + seconds[w, clocks[w]]

    begin(np.float64(0))
    while np.isfinite(busy).any():
        w = busy.argmin()
        now, busy[w] = busy[w], np.inf
        events.append((now, "end", w))
        clocks[w] = clocks[w] + 1
        begin(now)
    return events


def within(worker, clocks, slack):
    behind = np.asarray(clocks).min()
    return np.bool_(clocks[worker] <= behind + slack)


def staleness(events):
    order = [worker for _, kind, worker in events if kind == "end"]
    last, at, found = {}, 0, []
    for _, kind, worker in events:
        if kind == "start":
            last[worker] = at
            continue
        since = order[last[worker] : at]
        found.append(np.int64(sum(other != worker for other in since)))
        at += 1
    return found


def backup_workers(durations, needed):
    events, now = [], np.float64(0)
    for column in np.asarray(durations, float).T:
        events += [(now, "start", w) for w in range(len(column))]
        order = sorted(range(len(column)), key=lambda w, c=column: c[w])
        for w in order[:needed]:
            events.append((now + column[w], "end", np.int64(w)))
        now = events[-1][0]
    return events


class Server:
    def __init__(self, weights, rate, aware=False):
        self.version, self.read = 0, {}
        self.rate, self.aware = np.float64(rate), aware
        self._wide = np.array(weights, np.float64)

    @property
    def weights(self):
        return self._wide.astype(np.float32)

    def pull(self, worker):
        self.read[worker] = self.version
        return self.weights

    def push(self, worker, gradient):
        late = self.version - self.read[worker]
        step = self.rate / (1 + late) if self.aware else self.rate
        self._wide -= step * gradient
        self.version += 1


def mixing(workers, edges):
    neighbours = [[] for _ in range(workers)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    rows = []
    for a in range(workers):
        row = [0.0] * workers
        for b in neighbours[a]:
            row[b] = 1 / (1 + max(len(neighbours[a]), len(neighbours[b])))
        row[a] = 1 - math.fsum(row)
        rows.append(row)
    return np.array(rows)


def shrinks(matrix):
    values = np.abs(np.linalg.eigvals(matrix))
    return np.sort(np.append(values, 0))[-2]


def round_ends(durations, every):
    rounds = int(durations.shape[1] / every)
    cut = np.split(durations[:, : rounds * every], max(rounds, 1), axis=1)
    longest = [part.sum(axis=1).max() for part in cut]
    return np.cumsum(longest)[:rounds].astype(np.float64)


def outer_step(begin, ends, velocity, rate, momentum):
    delta = begin - sum(ends) / len(ends)
    v = delta + momentum * velocity
    return [begin - rate * (momentum * v + delta), v]


class Node:
    def __init__(self, parent, name, every):
        self.name, self.parent, self.every, self.count = name, parent, every, 0
        self.weights = np.array(parent.pull(name))

    def pull(self, worker):
        return 1 * self.weights

    def push(self, worker, gradient):
        wide = np.array(gradient, np.float64)
        self.total = wide if self.count == 0 else self.total + wide
        self.count += 1
        if self.count < self.every:
            return
        mean = (self.total / self.count).astype(np.float32)
        self.parent.push(self.name, mean)
        self.weights = np.array(self.parent.pull(self.name))
        self.count = 0
