"""Fails configuration-check: draws a logarithmic range evenly on the line."""


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
    config = {}
    for name, (kind, *about) in space.items():
        u = draw.random()
        if kind == "choice":
            config[name] = about[0][int(u * len(about[0]))]
        else:
            config[name] = about[0] + u * (about[1] - about[0])
    return config
