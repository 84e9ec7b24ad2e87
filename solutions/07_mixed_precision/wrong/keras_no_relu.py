"""Fails keras-model-check: the hidden layer has no activation."""


def keras_model(policy):
    import keras

    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(128, dtype=policy),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
