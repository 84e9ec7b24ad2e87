"""Fails systolic-check: multiplies the inputs of the cycle before."""


def systolic_step(w, x, s, feed):
    new = np.column_stack([feed, x[:, :-1]])
    above = np.vstack([np.zeros(len(w)), s[:-1]])
    return new, above + w * x
