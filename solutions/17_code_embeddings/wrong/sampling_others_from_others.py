"""Fails negative-sampling-check: the contexts' gradient from themselves."""


def negative_sampling(centre: np.ndarray, others: np.ndarray):
    scores = np.einsum("bd,bkd->bk", centre, others)
    sign = np.ones(scores.shape[1])
    sign[0] = -1
    cost = np.logaddexp(0, sign * scores)
    d_scores = sign * np.exp(sign * scores - cost) / len(centre)
    d_centre = np.einsum("bk,bkd->bd", d_scores, others)
    d_others = d_scores[:, :, None] * others
    return cost.sum() / len(centre), d_centre, d_others
