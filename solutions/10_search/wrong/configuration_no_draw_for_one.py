"""Fails configuration-check: draws nothing where there is one option only."""


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
    config = {}
    pass
    for name, (kind, *about) in space.items():
        pass
        u = 0.0 if kind == "choice" and len(about[0]) == 1 else draw.random()
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
