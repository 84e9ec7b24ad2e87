"""Fails fit-check: reads the notebook's y_train instead of the labels that were handed in."""


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
    rng = np.random.default_rng(seed)
    history, state, t = {"loss": [], "validation": []}, {}, 0
    for _ in range(epochs):
        losses = []
        for batch in minibatches(len(x), batch_size, rng):
            losses.append(model.loss_and_gradients(x[batch], y_train[batch]))
            t += 1
            update(model, optimizer, lr, t, state)
        history["loss"].append(float(np.mean(losses)))
        if validation is not None:
            history["validation"].append(accuracy(model, *validation))
    return history
