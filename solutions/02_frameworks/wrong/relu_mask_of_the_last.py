"""Fails operators-check: every node uses the mask of the one that was made last."""

last = {}


def relu(a):
    last["mask"] = a.value > 0
    return Node(
        np.where(last["mask"], a.value, 0.0),
        (a,),
        "relu",
        lambda g: (g * last["mask"],),
    )
