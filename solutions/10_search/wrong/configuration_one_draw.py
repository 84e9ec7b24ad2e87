"""Fails configuration-check: one u for all names."""


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
    config = {}
    same = draw.random()
    for name, (kind, *about) in space.items():
        pass
        u = same
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
