"""Fails negative-sampling-check: the centre's gradient from the drawn contexts alone."""


def negative_sampling(centre: np.ndarray, others: np.ndarray):
    scores = np.einsum("bd,bkd->bk", centre, others)
    sign = np.ones(scores.shape[1])
    sign[0] = -1
    cost = np.logaddexp(0, sign * scores)
    d_scores = sign * np.exp(sign * scores - cost) / len(centre)
    d_centre = np.einsum("bk,bkd->bd", d_scores[:, 1:], others[:, 1:])
    d_others = d_scores[:, :, None] * centre[:, None, :]
    return cost.sum() / len(centre), d_centre, d_others
