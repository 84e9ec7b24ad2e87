"""Fails configuration-check: goes on with one generator from call to call."""

GENERATORS = {}


def configuration(space, seed, trial):
    draw = GENERATORS.setdefault(seed, np.random.default_rng([seed, 0]))
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
