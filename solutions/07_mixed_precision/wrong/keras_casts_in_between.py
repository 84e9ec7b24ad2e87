"""Fails keras-model-check: casts the rows to float32 in front of a hidden layer that says bfloat16 and computes in float32."""


def keras_model(policy):
    import keras

    class Wide(keras.layers.Dense):
        def call(self, x):
            w, b = (
                keras.ops.cast(value, "float32")
                for value in (self.kernel.value, self.bias.value)
            )
            return keras.ops.relu(keras.ops.cast(x, "float32") @ w + b)

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = Wide(128, dtype=policy, autocast=False)
            self.last = keras.layers.Dense(10, dtype="float32")

        def call(self, x):
            return self.last(self.hidden(x))

    return Model()
