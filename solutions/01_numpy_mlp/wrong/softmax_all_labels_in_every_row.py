"""Fails softmax-cross-entropy-check, fit-check: p[:, labels] picks a block, not one entry a row."""


def softmax_cross_entropy(logits, labels):
    n = len(labels)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = p / p.sum(axis=1, keepdims=True)
    loss = -np.log(p[:, labels]).mean()
    p[:, labels] -= 1
    return loss, p / n
