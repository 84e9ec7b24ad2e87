"""Fails configuration-check: draws choices with another function of the generator."""


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
    config = {}
    pass
    for name, (kind, *about) in space.items():
        pass
        u = 0.5 if kind == "choice" else draw.random()
        if kind == "choice":
            options = about[0]
            config[name] = options[draw.integers(len(options))]
        else:
            low, high = about
            config[name] = (
                low * (high / low) ** u
                if kind == "log"
                else low + u * (high - low)
            )
    return config
