"""Fails softmax-cross-entropy-check: clips the probability before the log, which hides how wrong a hopeless row is."""


def softmax_cross_entropy(logits, labels):
    rows = np.arange(len(logits))
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    loss = -np.log(np.maximum(p[rows, labels], 1e-12)).mean()
    p[rows, labels] -= 1.0
    return float(loss), p / len(logits)
