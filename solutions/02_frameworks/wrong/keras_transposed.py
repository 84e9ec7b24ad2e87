"""Fails keras-network-check: transposes the weights as PyTorch wants them."""


def keras_network(weights):
    import keras

    model = keras.Sequential([keras.Input((len(weights[0][0]),))])
    for number, (w, _) in enumerate(weights, start=1):
        activation = "relu" if number < len(weights) else None
        model.add(keras.layers.Dense(w.shape[1], activation=activation))
    model.set_weights([array.T for pair in weights for array in pair])
    return model
