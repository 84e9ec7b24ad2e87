"""Fails systolic-check: adds to a cell's own sum, as if sums stayed."""


def systolic_step(w, x, s, feed):
    x = np.column_stack([feed, x[:, :-1]])
    return x, s + w * x
