"""Fails configuration-check: one dictionary for all calls."""

SHARED = {}


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
    config = SHARED
    config.clear()
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
    return SHARED
