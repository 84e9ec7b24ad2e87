"""Fails fit-check: Adam is told the epoch and not the step."""


def fit(
    model,
    x,
    labels,
    *,
    epochs,
    lr,
    batch_size=32,
    optimizer="adam",
    seed=0,
    validation=None,
):
    rng, history, state = (
        np.random.default_rng(seed),
        {"loss": [], "validation": []},
        {},
    )
    for epoch in range(epochs):
        losses = []
        for t, batch in enumerate(minibatches(len(x), batch_size, rng), 1):
            losses.append(model.loss_and_gradients(x[batch], labels[batch]))
            update(model, optimizer, lr, t, state)
        history["loss"].append(float(np.mean(losses)))
        if validation is not None:
            history["validation"].append(accuracy(model, *validation))
    return history
