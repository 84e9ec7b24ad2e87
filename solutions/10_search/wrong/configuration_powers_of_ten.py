"""Fails configuration-check: takes whole powers of ten."""


def configuration(space, seed, trial):
    draw = np.random.default_rng([seed, trial])
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
                10 ** round(np.log10(low) + u * np.log10(high / low))
                if kind == "log"
                else low + u * (high - low)
            )
    return config
