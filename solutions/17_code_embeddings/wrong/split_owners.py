"""Fails split-check: the programs, not the rows."""


def split_by_program(owners: list, n_test: int, seed: int):
    programs = list(dict.fromkeys(owners))
    order = np.random.default_rng(seed).permutation(len(programs))
    tested = {programs[number] for number in order[:n_test]}
    return (
        np.array([p for p in programs if p not in tested]),
        np.array([p for p in programs if p in tested]),
    )
