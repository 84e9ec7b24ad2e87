"""Fails keras-network-check: ends in softmax, although the loss takes logits."""


def keras_network(weights):
    import keras

    model = keras.Sequential([keras.Input((len(weights[0][0]),))])
    for number, (w, _) in enumerate(weights, start=1):
        activation = "relu" if number < len(weights) else "softmax"
        model.add(keras.layers.Dense(w.shape[1], activation=activation))
    model.set_weights([array for pair in weights for array in pair])
    return model
