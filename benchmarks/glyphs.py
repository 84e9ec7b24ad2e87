"""How hard are the data sets that need no network? Prints the test accuracy of three kinds of model.

Usage: python benchmarks/glyphs.py [NAME ...]

Each model is trained on the training part, with settings that were not tuned; the validation part is not used. Networks
start from three seeds: the lowest and the highest accuracy. Takes about ten minutes on two cores.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from numpy.typing import NDArray

import labkit
from labkit._data import Dataset

_SEEDS = (0, 1, 2)


def main(names: list[str]) -> None:
    """Print one line for each data set and model."""
    print(f"{'data set':<14} {'model':<8} {'test accuracy':<15} seconds a run")
    for name in names or ["digits", "glyph_digits", "glyph_letters", "glyphs"]:
        data = labkit.load(name)
        for model, accuracy, seeds in (("linear", linear, (0,)), ("MLP", mlp, _SEEDS), ("CNN", cnn, _SEEDS)):
            start = time.perf_counter()
            scores = [accuracy(data, seed) for seed in seeds]
            seconds = (time.perf_counter() - start) / len(seeds)
            span = " to ".join(f"{score:.1%}" for score in sorted({min(scores), max(scores)}))
            print(f"{name:<14} {model:<8} {span:<15} {seconds:.1f}", flush=True)


def linear(data: Dataset, seed: int) -> float:
    """Return the test accuracy of multinomial logistic regression, 100 steps of L-BFGS."""
    from sklearn.linear_model import LogisticRegression

    return _sklearn(LogisticRegression(max_iter=100, random_state=seed), data)


def mlp(data: Dataset, seed: int) -> float:
    """Return the test accuracy of a network with 512 hidden ReLUs, 30 epochs of Adam."""
    from sklearn.neural_network import MLPClassifier

    return _sklearn(MLPClassifier(512, batch_size=128, max_iter=30, random_state=seed), data)


def cnn(data: Dataset, seed: int) -> float:
    """Return the test accuracy of two 3 x 3 convolutions with pooling and a hidden layer, 6 epochs of Adam or more."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    height, width = data.train.x.shape[1:]
    hidden = 32 * (height // 4) * (width // 4)
    model = nn.Sequential(
        nn.Unflatten(1, (1, height)),
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(hidden, 128), nn.ReLU(), nn.Linear(128, len(data.classes))),
    )
    x, y = (torch.from_numpy(array) for array in data.train)
    steps_an_epoch = -(-len(x) // 128)
    epochs = max(6, 800 // steps_an_epoch)
    adam = torch.optim.Adam(model.parameters())
    rate = torch.optim.lr_scheduler.OneCycleLR(adam, 3e-3, total_steps=epochs * steps_an_epoch)
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for start in range(0, len(x), 128):
            batch = order[start : start + 128]
            adam.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(model(x[batch]), y[batch]))
            adam.step()
            rate.step()
    with torch.inference_mode():
        predicted = model(torch.from_numpy(data.test.x)).argmax(1).numpy()
    return _share(predicted, data)


def _sklearn(model: object, data: Dataset) -> float:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    flat = make_pipeline(FunctionTransformer(_rows), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of steps is the setting
        flat.fit(data.train.x, data.train.y)
    return _share(flat.predict(data.test.x), data)


def _rows(images: NDArray[np.float32]) -> NDArray[np.float32]:
    return images.reshape(len(images), -1)


def _share(predicted: NDArray[np.int64], data: Dataset) -> float:
    return float(np.mean(predicted == data.test.y))


if __name__ == "__main__":
    main(sys.argv[1:])
