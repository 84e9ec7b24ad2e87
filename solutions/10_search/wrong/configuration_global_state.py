"""Fails configuration-check: seeds NumPy's global generator."""


def configuration(space, seed, trial):
    np.random.seed(seed + trial)
    config = {}
    for name, (kind, *about) in space.items():
        u = np.random.random()
        if kind == "choice":
            config[name] = about[0][int(u * len(about[0]))]
        elif kind == "log":
            config[name] = about[0] * (about[1] / about[0]) ** u
        else:
            config[name] = about[0] + u * (about[1] - about[0])
    return config
