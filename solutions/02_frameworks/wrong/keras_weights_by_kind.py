"""Fails keras-network-check: sets all matrices first and all biases after."""


def keras_network(weights):
    import keras

    model = keras.Sequential([keras.Input((len(weights[0][0]),))])
    for number, (w, _) in enumerate(weights, start=1):
        activation = "relu" if number < len(weights) else None
        model.add(keras.layers.Dense(w.shape[1], activation=activation))
    model.set_weights([pair[k] for k in (0, 1) for pair in weights])
    return model
