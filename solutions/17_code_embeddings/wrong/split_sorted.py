"""Fails split-check: numbers programs by name."""


def split_by_program(owners: list, n_test: int, seed: int):
    programs = sorted(set(owners))
    order = np.random.default_rng(seed).permutation(len(programs))
    tested = {programs[number] for number in order[:n_test]}
    mask = np.array([owner in tested for owner in owners], bool)
    return np.flatnonzero(~mask), np.flatnonzero(mask)
