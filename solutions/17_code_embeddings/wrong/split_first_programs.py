"""Fails split-check: the first programs, without a draw."""


def split_by_program(owners: list, n_test: int, seed: int):
    programs = list(dict.fromkeys(owners))
    tested = {programs[number] for number in range(n_test)}
    mask = np.array([owner in tested for owner in owners], bool)
    return np.flatnonzero(~mask), np.flatnonzero(mask)
