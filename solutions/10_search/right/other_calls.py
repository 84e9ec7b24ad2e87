"""Other calls of NumPy: einsum, partition by rank, float64 throughout, numbers of NumPy."""


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
    config = {}
    for name, (kind, *about) in space.items():
        u = draw.random()
        match kind:
            case "linear":
                config[name] = np.interp(u, [0, 1], about)
            case "log":
                config[name] = np.exp(np.interp(u, [0, 1], np.log(about)))
            case "choice":
                config[name] = about[0][int(np.floor(u * len(about[0])))]
    return config


def makespan(durations, workers):
    free = np.zeros(workers)
    plan = []
    for duration in durations:
        worker = np.argmin(free)
        plan.append((worker, free[worker]))
        free[worker] += duration
    return free.max(), plan


def ensemble_predict(layers, x):
    x = np.broadcast_to(np.asarray(x, float), (len(layers[0][0]), *x.shape))
    for depth, (w, b) in enumerate(layers):
        x = np.einsum("mna,mac->mnc", np.maximum(x, 0) if depth else x, w)
        x = x + b[:, np.newaxis, :]
    return softmax(x).sum(axis=0) / len(x)
