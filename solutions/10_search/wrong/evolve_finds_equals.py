"""Fails evolve-check: finds the parent by its architecture."""


def evolve(new, mutate, fitness, size, sample, cycles, draw):
    history = []
    for _ in range(size):
        made = new()
        history.append((made, fitness(made), None))
    queue = list(range(size))
    for _ in range(cycles):
        places = draw.choice(size, sample, replace=False)
        parent = max((queue[p] for p in places), key=lambda i: history[i][1])
        made = mutate(history[parent][0])
        history.append(
            (
                made,
                fitness(made),
                [h[0] for h in history].index(history[parent][0]),
            )
        )
        queue.append(len(history) - 1)
        queue.pop(0)
    return history
