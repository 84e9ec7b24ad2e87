"""Fails keras-network-check: leaves the activations out."""


def keras_network(weights):
    import keras

    model = keras.Sequential([keras.Input((len(weights[0][0]),))])
    for w, _ in weights:
        model.add(keras.layers.Dense(w.shape[1]))
    model.set_weights([array for pair in weights for array in pair])
    return model
