"""Fails systolic-check: moves the inputs in the caller's array."""


def systolic_step(w, x, s, feed):
    x[:, 1:] = x[:, :-1].copy()
    x[:, 0] = feed
    above = np.vstack([np.zeros(len(w)), s[:-1]])
    return x, above + w * x
