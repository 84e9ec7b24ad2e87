"""Fails keras-network-check: puts relu on the logits, too."""


def keras_network(weights):
    import keras

    model = keras.Sequential([keras.Input((len(weights[0][0]),))])
    for number, (w, _) in enumerate(weights, start=1):
        activation = "relu"
        model.add(keras.layers.Dense(w.shape[1], activation=activation))
    model.set_weights([array for pair in weights for array in pair])
    return model
