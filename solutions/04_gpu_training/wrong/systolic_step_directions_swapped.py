"""Fails systolic-check: lets inputs move down and sums move right."""


def systolic_step(w, x, s, feed):
    x = np.vstack([feed, x[:-1]])
    left = np.column_stack([np.zeros(len(w)), s[:, :-1]])
    return x, left + w * x
