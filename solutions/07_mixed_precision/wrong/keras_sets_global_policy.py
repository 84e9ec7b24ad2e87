"""Fails keras-model-check: sets the global policy, which changes every later model."""


def keras_model(policy):
    import keras

    keras.config.set_dtype_policy(policy)
    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
