"""Fails keras-model-check: the output layer has no dtype of its own and takes the global policy, which need not be float32."""


def keras_model(policy: str):
    import keras

    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(128, activation="relu", dtype=policy),
            keras.layers.Dense(10),
        ]
    )
