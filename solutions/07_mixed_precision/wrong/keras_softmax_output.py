"""Fails keras-model-check: returns probabilities, not logits."""


def keras_model(policy):
    import keras

    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(128, activation="relu", dtype=policy),
            keras.layers.Dense(10, activation="softmax", dtype="float32"),
        ]
    )
