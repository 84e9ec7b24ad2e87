"""Fails split-check: another way to draw."""


def split_by_program(owners: list, n_test: int, seed: int):
    programs = list(dict.fromkeys(owners))
    order = np.random.default_rng(seed).choice(
        len(programs), len(programs), False
    )
    tested = {programs[number] for number in order[:n_test]}
    mask = np.array([owner in tested for owner in owners], bool)
    return np.flatnonzero(~mask), np.flatnonzero(mask)
