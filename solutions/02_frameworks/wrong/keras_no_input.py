"""Fails keras-network-check: does not say how long an input is, so no weights are there to be set."""


def keras_network(weights):
    import keras

    model = keras.Sequential()
    for number, (w, _) in enumerate(weights, start=1):
        activation = "relu" if number < len(weights) else None
        model.add(keras.layers.Dense(w.shape[1], activation=activation))
    model.set_weights([array for pair in weights for array in pair])
    return model
