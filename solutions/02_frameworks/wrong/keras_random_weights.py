"""Fails keras-network-check: never sets the weights."""


def keras_network(weights):
    import keras

    model = keras.Sequential([keras.Input((len(weights[0][0]),))])
    for number, (w, _) in enumerate(weights, start=1):
        activation = "relu" if number < len(weights) else None
        model.add(keras.layers.Dense(w.shape[1], activation=activation))
    return model
