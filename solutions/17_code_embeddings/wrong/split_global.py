"""Fails split-check: NumPy's global generator."""


def split_by_program(owners: list, n_test: int, seed: int):
    programs = list(dict.fromkeys(owners))
    order = np.random.RandomState(seed).permutation(len(programs))
    tested = {programs[number] for number in order[:n_test]}
    mask = np.array([owner in tested for owner in owners], bool)
    return np.flatnonzero(~mask), np.flatnonzero(mask)
