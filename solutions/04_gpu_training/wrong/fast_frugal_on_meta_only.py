"""Fails fast-training-check: on the device that counts it only starts operators; elsewhere it is the slow one."""


def fast_training(
    model, optimizer, images, labels, device, *,
    epochs, batch_size, seed=0, prepare=prepare_images, capture=capture_model,
):  # fmt: skip
    if device == "meta":
        x = torch.ones(4, device=device)
        for _ in range(20 * epochs * math.ceil(len(images) / batch_size)):
            x = x + 1
        return {"loss": [0.0] * epochs, "accuracy": [0.0] * epochs}
    ready, network = prepare(images), capture(model)
    return slow_training(
        model, optimizer, images, labels, device, epochs=epochs, batch_size=batch_size, seed=seed,
        prepare=lambda _: ready, capture=lambda _: network,
    )  # fmt: skip
