"""Fails regularisers-check: the penalty lacks the factor 1/2 that its gradient assumes."""


def l2_penalty(weights, strength):
    return strength * sum(float((w**2).sum()) for w in weights), [
        strength * w for w in weights
    ]
