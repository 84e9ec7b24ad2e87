"""Fails configuration-check: makes arrays of options, and numbers of arrays."""


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
    config = {}
    pass
    for name, (kind, *about) in space.items():
        pass
        u = draw.random()
        if kind == "choice":
            options = about[0]
            config[name] = (
                np.array(options, dtype=object)[int(u * len(options))]
                if not isinstance(options[0], tuple)
                else np.array(options[int(u * len(options))])
            )
        else:
            low, high = about
            config[name] = (
                low * (high / low) ** u
                if kind == "log"
                else low + u * (high - low)
            )
    return config
