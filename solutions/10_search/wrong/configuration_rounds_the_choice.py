"""Fails configuration-check: rounds instead of cutting off: the ends are rarer."""


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
    config = {}
    pass
    for name, (kind, *about) in space.items():
        pass
        u = draw.random()
        if kind == "choice":
            options = about[0]
            config[name] = options[round(u * (len(options) - 1))]
        else:
            low, high = about
            config[name] = (
                low * (high / low) ** u
                if kind == "log"
                else low + u * (high - low)
            )
    return config
