"""Fails configuration-check: draws in alphabetical order."""


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
    config = {}
    pass
    for name, (kind, *about) in sorted(space.items()):
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
