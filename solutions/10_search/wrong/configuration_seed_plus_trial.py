"""Fails configuration-check: seed 1, trial 7 is seed 7, trial 1."""


def configuration(space, seed, trial):
    draw = np.random.default_rng(seed + trial)
    config = {}
    pass
    for name, (kind, *about) in space.items():
        pass
        u = draw.random()
        if kind == "choice":
            options = about[0]
            config[name] = options[int(u * len(options))]
        else:
            low, high = about
            config[name] = (
                low * (high / low) ** u
                if kind == "log"
                else low + u * (high - low)
            )
    return config
