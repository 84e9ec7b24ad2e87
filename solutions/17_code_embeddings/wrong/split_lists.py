"""Fails split-check: lists of numbers."""


def split_by_program(owners: list, n_test: int, seed: int):
    programs = list(dict.fromkeys(owners))
    order = np.random.default_rng(seed).permutation(len(programs))
    tested = {programs[number] for number in order[:n_test]}
    mask = np.array([owner in tested for owner in owners], bool)
    return np.flatnonzero(~mask).tolist(), np.flatnonzero(mask).tolist()
