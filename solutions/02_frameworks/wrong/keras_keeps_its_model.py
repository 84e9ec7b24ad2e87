"""Fails keras-network-check: hands out the model that it made for other weights of the same shapes."""

models = {}


def keras_network(weights):
    import keras

    shapes = tuple(w.shape for w, _ in weights)
    if shapes not in models:
        model = keras.Sequential([keras.Input((len(weights[0][0]),))])
        for number, (w, _) in enumerate(weights, start=1):
            activation = "relu" if number < len(weights) else None
            model.add(keras.layers.Dense(w.shape[1], activation=activation))
        model.set_weights([array for pair in weights for array in pair])
        models[shapes] = model
    return models[shapes]
