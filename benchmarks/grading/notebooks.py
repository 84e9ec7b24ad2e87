"""Ordinary nbgrader notebooks in NumPy, PyTorch and Keras; their tests are plain asserts that any grader can run.

In each solution one local variable is called `result`: it gets another name in every submission, so that no two are
the same.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NOTEBOOKS", "Notebook", "Task"]


@dataclass(frozen=True)
class Task:
    """A cell that a student fills in, and the one that tests it."""

    name: str
    points: int
    solution: str
    tests: str
    wrong: str
    """A plausible answer that fails the tests."""


@dataclass(frozen=True)
class Notebook:
    """What an instructor wrote: a locked cell, and tasks."""

    name: str
    setup: str
    tasks: tuple[Task, ...]


NUMPY = Notebook(
    "numpy",
    "import numpy as np\n\nrng = np.random.default_rng(0)\nimages = rng.normal(size=(500, 64))",
    (
        Task(
            "softmax",
            2,
            """
def softmax(z):
    result = np.exp(z - z.max(axis=1, keepdims=True))
    return result / result.sum(axis=1, keepdims=True)
""",
            """
import numpy as np

assert np.allclose(softmax(np.zeros((2, 4))), 0.25)
assert np.allclose(softmax(np.array([[1000.0, 0.0]])), [[1.0, 0.0]])
""",
            "def softmax(z):\n    result = np.exp(z - z.max())\n    return result / result.sum()",
        ),
        Task(
            "components",
            3,
            """
def components(x, k):
    result = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2]
    return result[:k]
""",
            """
import numpy as np

points = np.random.default_rng(1).normal(size=(200, 8)) * np.arange(1, 9)
found = components(points, 3)
assert found.shape == (3, 8)
assert np.allclose(found @ found.T, np.eye(3))
values = np.linalg.eigvalsh(np.cov(points.T))[::-1]
assert np.allclose(np.var((points - points.mean(axis=0)) @ found.T, axis=0, ddof=1), values[:3])
""",
            "def components(x, k):\n    result = np.eye(x.shape[1])\n    return result[:k]",
        ),
        Task(
            "descent",
            3,
            """
def descent(x, y, steps, rate):
    result = np.zeros(x.shape[1])
    for _ in range(steps):
        result = result - rate * 2 * x.T @ (x @ result - y) / len(y)
    return result
""",
            """
import numpy as np

rng = np.random.default_rng(2)
x, wanted = rng.normal(size=(400, 10)), np.arange(10.0)
assert np.allclose(descent(x, x @ wanted, 500, 0.1), wanted, atol=1e-6)
assert np.allclose(descent(x, x @ wanted, 1, 0.5), x.T @ (x @ wanted) / 400)
""",
            "def descent(x, y, steps, rate):\n    result = np.zeros(x.shape[1])\n    return result",
        ),
        Task(
            "neighbours",
            2,
            """
def neighbours(x, labels, queries):
    result = ((queries[:, None] - x[None]) ** 2).sum(axis=2)
    return labels[result.argmin(axis=1)]
""",
            """
import numpy as np

x = np.random.default_rng(3).normal(size=(100, 5))
assert (neighbours(x, np.arange(100), x + 1e-6) == np.arange(100)).all()
""",
            "def neighbours(x, labels, queries):\n    result = labels[:1]\n    return np.repeat(result, len(queries))",
        ),
    ),
)

TORCH = Notebook(
    "torch",
    "import torch\nfrom torch import nn\n\ntorch.manual_seed(0)",
    (
        Task(
            "attention",
            3,
            """
def attention(q, k, v):
    result = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
    return result @ v
""",
            """
import torch

torch.manual_seed(1)
q, k, v = torch.randn(3, 2, 16, 8)
wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v)
assert torch.allclose(attention(q, k, v), wanted, atol=1e-5)
""",
            "def attention(q, k, v):\n    result = torch.softmax(q @ k.mT, dim=-1)\n    return result @ v",
        ),
        Task(
            "network",
            2,
            """
def network(n_in, n_hidden, n_out):
    result = [nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_out)]
    return nn.Sequential(*result)
""",
            """
import torch

model = network(64, 32, 10)
assert sum(p.numel() for p in model.parameters()) == 64 * 32 + 32 + 32 * 10 + 10
assert model(torch.zeros(5, 64)).shape == (5, 10)
""",
            "def network(n_in, n_hidden, n_out):\n    result = nn.Linear(n_in, n_out)\n    return result",
        ),
        Task(
            "train",
            3,
            """
def train(model, x, y, steps, rate):
    result = []
    sgd = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(steps):
        sgd.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        sgd.step()
        result.append(loss.item())
    return result
""",
            """
import torch

torch.manual_seed(2)
x = torch.randn(128, 4)
losses = train(network(4, 16, 1), x, x.sum(1, keepdim=True), 60, 0.05)
assert len(losses) == 60
assert losses[-1] < 0.3 * losses[0]
""",
            "def train(model, x, y, steps, rate):\n    result = [1.0] * steps\n    return result",
        ),
    ),
)

KERAS = Notebook(
    "keras",
    # The first operator writes to stderr, which nbgrader punishes in a test cell.
    'import os\n\nos.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")\nimport keras\nimport numpy as np\n'
    "import tensorflow as tf\n\nkeras.utils.set_random_seed(0)\ntf.matmul(tf.ones((2, 2)), tf.ones((2, 2)));",
    (
        Task(
            "classifier",
            2,
            """
def classifier(n_in, n_hidden, n_out):
    result = [keras.Input((n_in,)), keras.layers.Dense(n_hidden, "relu"), keras.layers.Dense(n_out)]
    return keras.Sequential(result)
""",
            """
import numpy as np

model = classifier(8, 16, 3)
assert model.count_params() == 8 * 16 + 16 + 16 * 3 + 3
assert np.asarray(model(np.ones((5, 8), "float32"))).shape == (5, 3)
""",
            "def classifier(n_in, n_hidden, n_out):\n    result = [keras.Input((n_in,)), keras.layers.Dense(n_out)]\n"
            "    return keras.Sequential(result)",
        ),
        Task(
            "slope",
            3,
            """
def slope(f, x):
    result = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(result)
        y = f(result)
    return tape.gradient(y, result).numpy()
""",
            """
import numpy as np
import tensorflow as tf

assert np.allclose(slope(tf.square, np.array([1.0, 2.0])), [2.0, 4.0])
""",
            "def slope(f, x):\n    result = np.ones_like(x)\n    return result",
        ),
        Task(
            "fitted",
            3,
            """
def fitted(x, y, epochs):
    result = keras.Sequential([keras.Input((x.shape[1],)), keras.layers.Dense(1)])
    result.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    return result.fit(x, y, epochs=epochs, batch_size=32, verbose=0).history["loss"]
""",
            """
import numpy as np

x = np.random.default_rng(1).normal(size=(128, 4)).astype("float32")
losses = fitted(x, x.sum(axis=1, keepdims=True), 5)
assert len(losses) == 5
assert losses[-1] < 0.1 * losses[0]
""",
            "def fitted(x, y, epochs):\n    result = [1.0] * epochs\n    return result",
        ),
    ),
)

TRIVIAL = Notebook(
    "trivial",
    "import math",
    (Task("one", 1, "def one():\n    result = 1\n    return result", "assert one() == 1", "def one():\n    return 2"),),
)

NOTEBOOKS = {notebook.name: notebook for notebook in (NUMPY, TORCH, KERAS, TRIVIAL)}
