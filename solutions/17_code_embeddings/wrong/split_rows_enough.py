"""Fails split-check: stops when n_test rows are tested."""


def split_by_program(owners: list, n_test: int, seed: int):
    programs = list(dict.fromkeys(owners))
    order = np.random.default_rng(seed).permutation(len(programs))
    tested = set()
    for number in order:
        if sum(owner in tested for owner in owners) < n_test:
            tested.add(programs[number])
    mask = np.array([owner in tested for owner in owners], bool)
    return np.flatnonzero(~mask), np.flatnonzero(mask)
