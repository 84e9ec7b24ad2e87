"""Fails keras-model-check: uses mixed_bfloat16 whatever policy was asked for."""


def keras_model(policy):
    import keras

    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(128, activation="relu", dtype="mixed_bfloat16"),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
