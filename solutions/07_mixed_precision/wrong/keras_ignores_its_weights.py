"""Earns nothing of keras-model-check: a model whose layers are there to be looked at only."""


def keras_model(policy):
    import keras

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(
                128, activation="relu", dtype=policy
            )
            self.output_layer = keras.layers.Dense(10, dtype="float32")
            self.hidden.build((None, 64))
            self.output_layer.build((None, 128))

        def call(self, x):
            return keras.ops.full((keras.ops.shape(x)[0], 10), -1.0)

    return Model()
