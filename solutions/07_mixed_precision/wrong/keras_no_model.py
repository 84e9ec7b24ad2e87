"""Earns nothing of keras-model-check: an object that says what a model says, and computes nothing."""


def keras_model(policy):
    import keras

    class Layer:
        def __init__(self, kind):
            self.compute_dtype = kind

        @property
        def weights(self):
            narrow = policy == "bfloat16" and self.compute_dtype != "float32"
            kind = "bfloat16" if narrow else "float32"
            return [
                keras.Variable(keras.ops.zeros(size), dtype=kind)
                for size in ((64, 128), (128,))
            ]

    class Model:
        layers = (Layer(policy.removeprefix("mixed_")), Layer("float32"))

        def __call__(self, x):
            return keras.ops.full((3, 10), -1.0)

    return Model()
