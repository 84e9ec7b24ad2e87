"""Fails regularisers-check, mlp-check: the gradient keeps the 2 of the square."""


def l2_penalty(weights, strength):
    return 0.5 * strength * sum(float((w**2).sum()) for w in weights), [
        2 * strength * w for w in weights
    ]
