"""One member, one trial, one entry at a time: heaps, loops, tuples for lists, lists for arrays."""

import heapq


def predictions():
    return {"optimism": 1, "place": np.float32(3), "efficiency": 1}


def configuration(space, seed, trial):
    u = np.random.default_rng([seed, trial]).random(len(space))
    config = dict.fromkeys(space)
    for k, name in enumerate(space):
        about = space[name]
        if about[0] == "linear":
            config[name] = (1 - u[k]) * about[1] + u[k] * about[2]
        elif about[0] == "log":
            low, high = math.log(about[1]), math.log(about[2])
            config[name] = math.exp(low + u[k] * (high - low))
        else:
            config[name] = about[1][math.floor(u[k] * len(about[1]))]
    return config


def makespan(durations, workers):
    heap = [(0.0, worker) for worker in range(workers)]
    plan, end = [], 0.0
    for duration in durations:
        start, worker = heapq.heappop(heap)
        plan.append([worker, start])
        end = max(end, start + duration)
        heapq.heappush(heap, (start + duration, worker))
    return [end, plan]


def successive_halving(trials, advance, least, most, eta=3):
    rungs = []
    total, further = least, least
    alive = tuple(trials)
    while len(alive) > 0 and total <= most:
        losses = [advance(trial, further) for trial in alive]
        rungs.append([[t, loss] for t, loss in zip(alive, losses)])
        order = np.argsort(np.array(losses), kind="stable")
        alive = [alive[i] for i in order[: max(1, len(alive) // eta)]]
        further = total * (eta - 1)
        total *= eta
    return rungs


def brackets(most, eta=3):
    found, power, s = [], 1, 0
    while power <= most:
        found.append([power, most // power])
        power, s = power * eta, s + 1
    return tuple(
        (divmod(s * p + k, k + 1)[0], r) for k, (p, r) in enumerate(found)
    )[::-1]


def population_step(members, draw):
    scores = np.array([m["score"] for m in members])
    order = np.argsort(-scores, kind="stable")
    k = len(members) // 4
    new, parents = [], []
    for i, member in enumerate(members):
        if k and i in order[-k:]:
            parent = int(order[draw.integers(k)])
            up = draw.random() >= 0.5
            rate = members[parent]["rate"] * (1.25 if up else 0.8)
        else:
            parent, rate = i, member["rate"]
        other = members[parent]
        weights = np.array(other["weights"])
        new.append({"score": other["score"], "rate": rate, "weights": weights})
        parents.append(parent)
    return new, np.array(parents)


def evolve(new, mutate, fitness, size, sample, cycles, draw):
    from collections import deque

    queue, history = deque(maxlen=size), []

    def add(architecture, parent):
        entry = [architecture, fitness(architecture), parent]
        queue.append((len(history), entry))
        history.append(entry)

    for architecture in [new() for _ in range(size)]:
        add(architecture, None)
    for _ in range(cycles):
        drawn = [queue[p] for p in draw.choice(size, sample, replace=False)]
        fits = [entry[1] for _, entry in drawn]
        place, entry = drawn[fits.index(max(fits))]
        add(mutate(entry[0]), place)
    return history


def ensemble_predict(layers, x):
    total = 0
    for k in range(len(layers[0][0])):
        z = x
        for depth, (w, b) in enumerate(layers):
            z = (np.maximum(z, 0) if depth else z) @ w[k] + b[k]
        total = total + softmax(z)
    return total / len(layers[0][0])


def combine(parts):
    weights = np.array([m for m, _ in parts], float)
    return np.average([p for _, p in parts], axis=0, weights=weights)
