"""Fails keras-network-check: uses TensorFlow's relu, which the torch backend cannot differentiate."""


def keras_network(weights):
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.Input((len(weights[0][0]),))])
    for number, (w, _) in enumerate(weights, start=1):
        activation = tf.nn.relu if number < len(weights) else None
        model.add(keras.layers.Dense(w.shape[1], activation=activation))
    model.set_weights([array for pair in weights for array in pair])
    return model
