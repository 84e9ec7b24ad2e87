"""Fails fit-check: creates the generator inside the epoch, so that every epoch has the same order."""


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
    history, state, t = {"loss": [], "validation": []}, {}, 0
    for _ in range(epochs):
        losses = []
        for batch in minibatches(
            len(x), batch_size, np.random.default_rng(seed)
        ):
            losses.append(model.loss_and_gradients(x[batch], labels[batch]))
            t += 1
            update(model, optimizer, lr, t, state)
        history["loss"].append(float(np.mean(losses)))
        if validation is not None:
            history["validation"].append(accuracy(model, *validation))
    return history
