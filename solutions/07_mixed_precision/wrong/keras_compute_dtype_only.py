"""Fails keras-model-check: takes only the policy's compute dtype, so that the variables are narrow as well."""


def keras_model(policy):
    import keras

    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(
                128, activation="relu", dtype=policy.removeprefix("mixed_")
            ),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
