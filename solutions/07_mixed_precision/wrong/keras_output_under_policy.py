"""Fails keras-model-check: the output layer computes in bfloat16, too."""


def keras_model(policy):
    import keras

    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(128, activation="relu", dtype=policy),
            keras.layers.Dense(10, dtype=policy),
        ]
    )
