"""Fails keras-model-check: the policy is never used."""


def keras_model(policy):
    import keras

    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
