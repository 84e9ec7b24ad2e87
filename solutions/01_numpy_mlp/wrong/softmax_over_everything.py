"""Fails softmax-cross-entropy-check, fit-check: one softmax over the whole batch, without an axis."""


def softmax_cross_entropy(logits, labels):
    n = len(labels)
    p = np.exp(logits - logits.max())
    p = p / p.sum()
    loss = -np.log(p[np.arange(n), labels]).mean()
    p[np.arange(n), labels] -= 1
    return loss, p / n
