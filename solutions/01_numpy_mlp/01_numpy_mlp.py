# %% [markdown]
# # 01. A multilayer perceptron in NumPy
#
# **What does a framework do for me?**
# Four lines of PyTorch define a network, compute its gradients and train it.
# Here you write those four lines yourself, from matrix products up:
# about 60 lines of NumPy that learn to read handwritten digits.
# At the end a framework computes the same gradients, and you can say what it spared you.
#
# | | |
# |---|---|
# | Prerequisites | matrix products, the chain rule, NumPy broadcasting |
# | Time | about 4 hours |
# | Points | 20: 16 from checks, 4 from a written answer |
# | Hardware | two CPU cores; with a GPU the last cell compares one layer on both |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one function or class.
# Replace the line that raises `NotImplementedError`, then run the look cell and the check below it.
# A check lists its cases: what was expected, what came, and where to look.
# Further cases, hidden here, run when your work is graded; they test what the task's text promises, with other numbers.
#
# Cells that begin with `# explore` are yours to change.
# They are not run when your work is graded, so keep your answers in the task cells.

# %% nbgrader={"grade_id": "setup", "locked": true}
import itertools

import numpy as np

from labkit import bench, check, compare, device, load, plot, result_card

digits = load("digits")
(x_train, y_train), (x_validation, y_validation), (x_test, y_test) = (
    (split.x.reshape(len(split.y), 64).astype(np.float64), split.y)
    for split in (digits.train, digits.validation, digits.test)
)
print(digits)

# %% explore=true
plot.images(digits.train.x[:20], titles=[str(label) for label in y_train[:20]], columns=10)

# %% [markdown]
# Each image has 8 x 8 pixels between 0 and 1; `reshape` made it a row of 64 numbers.
# The three splits have three jobs.
# The *training* set fits the weights, the *validation* set chooses between models,
# and the *test* set is looked at once, at the end.
# A model chosen on the test set has already seen the exam.

# %% [markdown]
# ## The chain
#
# A multilayer perceptron is a chain of simple functions.
# On the way forward each turns a batch of row vectors into another batch.
# On the way back each turns $\partial L/\partial\text{output}$ into $\partial L/\partial\text{input}$,
# and keeps the gradient of its own weights.
#
# ![A chain of boxes: x, Linear, activation, dropout, Linear, softmax cross-entropy. Arrows above carry values to the right, arrows below carry gradients to the left.](figures/chain.svg)
#
# The shape of a gradient is always the shape of the thing it belongs to.
# That rule finds half of all mistakes in this lab.

# %% [markdown]
# ### Task 1. Activations and their derivatives (1 point)
#
# Without a nonlinear function between them, two linear layers are one linear layer.
# Three classic choices:
#
# | name | $f(x)$ | $f'(x)$ |
# |---|---|---|
# | `relu` | $\max(x, 0)$ | 1 where $x > 0$, else 0 |
# | `tanh` | $\tanh x$ | $1 - \tanh^2 x$ |
# | `sigmoid` | $1/(1+e^{-x})$ | $f(x)\,(1 - f(x))$ |
#
# `activate(name, x)` returns the pair $(f(x), f'(x))$, both float64 and of x's shape, and leaves `x` as it was.
# For example `activate("relu", [-1, 2])` is `([0, 2], [0, 1])`.
# An unknown name raises `ValueError`. About 9 lines.


# %% nbgrader={"grade_id": "activate", "solution": true}
def activate(name: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the activation `name` of x and its derivative, elementwise."""
    x = np.asarray(x, dtype=np.float64)
    ### BEGIN SOLUTION
    if name == "relu":
        return np.maximum(x, 0.0), (x > 0).astype(np.float64)
    if name == "tanh":
        y = np.tanh(x)
        return y, 1.0 - y**2
    if name == "sigmoid":
        y = 0.5 * (1.0 + np.tanh(0.5 * x))
        return y, y * (1.0 - y)
    raise ValueError(f"unknown activation {name!r}")
    ### END SOLUTION


# %% explore=true
grid = np.linspace(-4, 4, 81)
curves = {name: (grid, activate(name, grid)[1]) for name in ("relu", "tanh", "sigmoid")}
plot.curves(
    curves,
    xlabel="x",
    ylabel="f'(x)",
    title="Your derivatives: how much of a gradient gets through",
)

# %% nbgrader={"grade_id": "activate-check", "grade": true, "points": 1}
import numpy as np

from labkit import check

x = np.array([[-2.0, -0.5, 0.0], [0.5, 1.0, 3.0]])
with check.case(
    "relu and its derivative",
    hint="relu keeps positive numbers; its slope is 1 there and 0 elsewhere, also at 0",
):
    check.close(activate("relu", x)[0], [[0, 0, 0], [0.5, 1, 3]])
    check.close(activate("relu", x)[1], [[0, 0, 0], [1, 1, 1]])
for name in ("tanh", "sigmoid"):
    with check.case(
        f"{name}: the derivative is the slope of the value",
        hint=f"the table gives f' of {name} in terms of f",
    ):
        slope = (activate(name, x + 1e-5)[0] - activate(name, x - 1e-5)[0]) / 2e-5
        check.close(activate(name, x)[1], slope, atol=1e-8, rtol=1e-6)
with check.case("sigmoid(0) is one half", hint="1 / (1 + exp(-x)), with the minus sign"):
    check.close(activate("sigmoid", np.array([0.0, np.log(3)]))[0], [0.5, 0.75])
with check.case("an unknown name raises ValueError", hint="end with: raise ValueError(...)"):
    check.raises(ValueError, activate, "softplus", x)
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the input stays as it was", hint="np.maximum(x, 0) makes a new array; x[x < 0] = 0 does not"
):
    before = np.linspace(-1.0, 1.0, 7)
    activate("relu", before)
    check.close(before, np.linspace(-1.0, 1.0, 7))
with check.hidden_case("tanh has the values of tanh", hint="is it np.tanh?"):
    check.close(activate("tanh", np.array([-1.0, 0.5]))[0], [-0.761594, 0.462117], atol=1e-6)
with check.hidden_case(
    "sigmoid far from zero is 0 or 1",
    hint="exp of a large number is infinite: rewrite with tanh, or exp of -|x|",
):
    check.close(activate("sigmoid", np.array([-800.0, 800.0]))[0], [0.0, 1.0], atol=1e-12)
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Task 2. Softmax cross-entropy (2 points)
#
# The last layer gives one score a class, the *logits* $z$.
# Softmax turns a row of them into probabilities, $p_{ij} = e^{z_{ij}} / \sum_k e^{z_{ik}}$,
# and the loss is the mean of $-\log p_{i,y_i}$ over the $n$ rows, where $y_i$ is the right class.
# In float64 $e^{710}$ is already infinite,
# so subtract each row's largest logit first: the probabilities do not change.
#
# The gradient is short: $\partial L/\partial z_{ij} = (p_{ij} - [j = y_i])/n$.
#
# `softmax_cross_entropy(logits, labels)` takes shapes `(n, k)` and `(n,)`
# and returns the loss, a float, and the gradient, `(n, k)`.
# For one row `[0, 0]` with label 0 that is `0.693` and `[[-0.5, 0.5]]`. About 8 lines, no loop.


# %% nbgrader={"grade_id": "softmax-cross-entropy", "solution": true}
def softmax_cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the mean cross-entropy of labels, shape (n,), and its gradient by logits, (n, k)."""
    ### BEGIN SOLUTION
    rows = np.arange(len(logits))
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    log_p = shifted - log_sum
    dlogits = np.exp(log_p)
    dlogits[rows, labels] -= 1.0
    return float(-log_p[rows, labels].mean()), dlogits / len(logits)
    ### END SOLUTION


# %% explore=true
scores = np.array([[4.0, 1.0, 0.0]])
losses = [softmax_cross_entropy(scores, np.array([label]))[0] for label in range(3)]
plot.bars(
    losses,
    labels=["right: class 0", "wrong: class 1", "wrong: class 2"],
    ylabel="loss",
    title="Confidence in a wrong answer is expensive",
)

# %% nbgrader={"grade_id": "softmax-cross-entropy-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

rng = np.random.default_rng(1)
z, labels = rng.normal(size=(4, 3)), np.array([0, 2, 1, 2])
with check.case(
    "equal scores of k classes cost log k",
    hint="the loss is minus the log of the right class's probability",
):
    check.close(softmax_cross_entropy(np.zeros((5, 4)), np.array([0, 1, 2, 3, 0]))[0], np.log(4))
with check.case(
    "the loss is the mean over the rows",
    hint="divide by the number of rows, not of entries, and do not only sum",
):
    each = [softmax_cross_entropy(z[i : i + 1], labels[i : i + 1])[0] for i in range(4)]
    check.close(softmax_cross_entropy(z, labels)[0], np.mean(each))
with check.case(
    "the gradient of one row of two equal scores", hint="probability minus one for the right class"
):
    check.close(softmax_cross_entropy(np.zeros((1, 2)), np.array([0]))[1], [[-0.5, 0.5]])
with check.case(
    "the gradient agrees with finite differences",
    hint="the loss is a mean: the gradient is divided by n too",
):
    check.gradient(
        lambda v: softmax_cross_entropy(v, labels)[0], z, softmax_cross_entropy(z, labels)[1]
    )
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "large logits do not overflow", hint="subtract the row's maximum before exp"
):
    big_loss, big_gradient = softmax_cross_entropy(
        np.array([[1000.0, 0.0], [0.0, -1000.0]]), np.array([0, 0])
    )
    check.close(big_loss, 0.0, atol=1e-12)
    check.close(big_gradient, np.zeros((2, 2)), atol=1e-12)
with check.hidden_case(
    "a hopeless row costs its margin, not infinity",
    hint="take the log analytically: log p = z - max - log(sum)",
):
    check.close(softmax_cross_entropy(np.array([[0.0, 2000.0]]), np.array([0]))[0], 2000.0)
with check.hidden_case(
    "more rows than classes, and fewer",
    hint="index the right class with np.arange(n) and labels, row by row",
):
    wide = np.random.default_rng(2).normal(size=(2, 7))
    check.gradient(
        lambda v: softmax_cross_entropy(v, np.array([6, 0]))[0],
        wide,
        softmax_cross_entropy(wide, np.array([6, 0]))[1],
    )
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 3. A referee: the numeric gradient (1 point)
#
# Before you derive a single gradient by hand, build the instrument that will catch your errors.
# For each entry of $x$ the *central difference*
# $$\frac{f(x + h e_i) - f(x - h e_i)}{2h}$$
# has an error of order $h^2$; the one-sided difference has one of order $h$.
#
# `numeric_gradient(f, x, step)` takes a function from an array to a number
# and returns an array of x's shape. It leaves `x` as it was and works for any number of dimensions.
# For $f(x) = \sum x_i^2$ at `[1, 2]` it is `[2, 4]`. About 8 lines; a loop over `np.ndindex(x.shape)` is right here.


# %% nbgrader={"grade_id": "numeric-gradient", "solution": true}
def numeric_gradient(f, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Return the gradient of a scalar function f at x by central differences; two calls an entry."""
    ### BEGIN SOLUTION
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        here = x[index]
        x[index] = here + step
        above = f(x.copy())
        x[index] = here - step
        below = f(x.copy())
        x[index] = here
        gradient[index] = (above - below) / (2 * step)
    return gradient
    ### END SOLUTION


# %% explore=true
steps = 10.0 ** np.arange(-13, 0)
errors = [
    abs(numeric_gradient(lambda v: float(np.exp(v).sum()), np.array([1.0]), h)[0] - np.e)
    for h in steps
]
plot.curves(
    {"central difference": (steps, errors)},
    xlabel="step h",
    ylabel="error",
    title="Too large a step is biased, too small a step is noise",
    logx=True,
    logy=True,
)

# %% nbgrader={"grade_id": "numeric-gradient-check", "grade": true, "points": 1}
import numpy as np

from labkit import check

with check.case(
    "the gradient of a sum of squares is 2x",
    hint="divide by 2 * step, and move one entry at a time",
):
    check.close(
        numeric_gradient(lambda v: float((v**2).sum()), np.array([1.0, 2.0])), [2.0, 4.0], atol=1e-7
    )
with check.case("two calls an entry", hint="one above, one below, for each entry"):
    squares = check.counted(lambda v: float((v**2).sum()))
    numeric_gradient(squares, np.ones((2, 3)))
    check.calls(squares, 12)
with check.case(
    "a matrix gives a matrix", hint="loop over np.ndindex(x.shape) and index with the tuple"
):
    weights = np.arange(6.0).reshape(2, 3)
    check.close(
        numeric_gradient(lambda v: float((weights * v).sum()), np.ones((2, 3))), weights, atol=1e-7
    )
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "central, not one-sided",
    hint="x + h and x - h, divided by 2h: a one-sided difference is wrong by about h",
):
    check.close(
        numeric_gradient(lambda v: float((v**2).sum()), np.array([3.0]), 0.1), [6.0], atol=1e-9
    )
with check.hidden_case(
    "x stays as it was", hint="work on a copy, or put the entry back before the next one"
):
    point = np.array([0.3, -0.7, 1.1])
    numeric_gradient(lambda v: float(np.sin(v).sum()), point)
    check.close(point, [0.3, -0.7, 1.1], rtol=0, atol=0)
with check.hidden_case(
    "integers are promoted", hint="copy x as float64: an integer array rounds the step away"
):
    check.close(
        numeric_gradient(lambda v: float((v**3).sum()), np.array([1, 2])), [3.0, 12.0], atol=1e-6
    )
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Task 4. The linear layer (2 points)
#
# Forward: $y = x w + b$ for a batch $x$ of shape `(n, n_in)`, weights `(n_in, n_out)` and bias `(n_out,)`.
# Backward: you are given $dy = \partial L/\partial y$, shape `(n, n_out)`. Then
# $$dw = x^\top dy, \qquad db = \sum_i dy_i, \qquad dx = dy\, w^\top .$$
#
# Check each by its shape before you type it.
# `forward` keeps in `self.x` what `backward` needs.
# `backward(dy)` stores `self.dw` and `self.db` and returns `dx`.
# A second `backward` replaces the gradients; it does not add to them. About 6 lines in all.


# %% nbgrader={"grade_id": "linear", "solution": true}
class Linear:
    """A fully connected layer, y = x w + b."""

    def __init__(self, n_in: int, n_out: int, rng: np.random.Generator) -> None:
        self.w = rng.normal(0.0, np.sqrt(2.0 / n_in), size=(n_in, n_out))  # He et al. 2015, eq. 10
        self.b = np.zeros(n_out)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return y, shape (n, n_out), for x of shape (n, n_in)."""
        ### BEGIN SOLUTION
        self.x = x
        return x @ self.w + self.b
        ### END SOLUTION

    def backward(self, dy: np.ndarray) -> np.ndarray:
        """Store dw and db for dy of shape (n, n_out); return dx, shape (n, n_in)."""
        ### BEGIN SOLUTION
        self.dw = self.x.T @ dy
        self.db = dy.sum(axis=0)
        return dy @ self.w.T
        ### END SOLUTION


# %% nbgrader={"grade_id": "linear-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

rng = np.random.default_rng(3)
x, dy = rng.normal(size=(5, 4)), rng.normal(size=(5, 3))
with check.case("forward is x w + b", hint="x @ self.w + self.b"):
    layer = Linear(4, 3, np.random.default_rng(0))
    layer.b = np.array([1.0, 2.0, 3.0])
    check.close(layer.forward(np.zeros((2, 4))), [[1, 2, 3], [1, 2, 3]])
    check.close(layer.forward(np.eye(4)) - layer.b, layer.w)
with check.case("dx has the shape and the values of the gradient by x", hint="dy @ w.T"):
    layer = Linear(4, 3, np.random.default_rng(0))
    layer.forward(x)
    check.gradient(lambda v: float((layer.forward(v) * dy).sum()), x, layer.backward(dy))
with check.case("dw is the gradient by w", hint="x.T @ dy, with the x that forward kept"):
    layer = Linear(4, 3, np.random.default_rng(0))
    layer.forward(x)
    layer.backward(dy)
    check.close(layer.dw, np.einsum("ni,no->io", x, dy))
with check.case("db is the gradient by b", hint="sum dy over the batch, axis=0"):
    layer = Linear(4, 3, np.random.default_rng(0))
    layer.forward(x)
    layer.backward(dy)
    check.close(layer.db, dy.sum(axis=0))
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "a square layer is not transposed",
    hint="with n_in = n_out shapes cannot warn you: which of w and w.T?",
):
    square, at = Linear(3, 3, np.random.default_rng(5)), rng.normal(size=(2, 3))
    square.forward(at)
    check.gradient(lambda v: float((square.forward(v) * dy[:2]).sum()), at, square.backward(dy[:2]))
with check.hidden_case(
    "a second backward replaces the first", hint="assign self.dw, do not add to it"
):
    again = Linear(4, 3, np.random.default_rng(0))
    for _ in range(2):
        again.forward(x)
        again.backward(dy)
    check.close(again.dw, np.einsum("ni,no->io", x, dy))
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 5. Two regularisers (2 points)
#
# A network with more weights than images can learn every image by heart.
# Two ways to make that harder:
#
# * **L2 penalty**: add $\frac{\lambda}{2}\sum_w \lVert w \rVert^2$ to the loss; each weight's gradient grows by $\lambda w$.
# * **Dropout** (Srivastava et al. 2014): while training, set each activation to 0 with probability $p$
#   and divide the survivors by $1 - p$, so that the expected value stays the same and nothing changes at test time.
#
# `l2_penalty(weights, strength)` takes a list of arrays and returns the penalty, a float, and the list of gradients.
# `dropout(x, p, rng)` returns `y = x * mask` and the mask, whose entries are 0 or $1/(1-p)$.
# Draw it with one call, `rng.random(x.shape)`, and drop where the number is below `p`. About 2 lines each.


# %% nbgrader={"grade_id": "l2-penalty", "solution": true}
def l2_penalty(weights: list[np.ndarray], strength: float) -> tuple[float, list[np.ndarray]]:
    """Return strength / 2 times the sum of all squared weights, and its gradient by each array."""
    ### BEGIN SOLUTION
    penalty = 0.5 * strength * sum(float((w**2).sum()) for w in weights)
    return penalty, [strength * w for w in weights]
    ### END SOLUTION


# %% nbgrader={"grade_id": "dropout", "solution": true}
def dropout(x: np.ndarray, p: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return x with a share p of its entries dropped, the rest scaled up, and the mask that did it."""
    ### BEGIN SOLUTION
    mask = (rng.random(x.shape) >= p) / (1.0 - p)
    return x * mask, mask
    ### END SOLUTION


# %% explore=true
sample = np.random.default_rng(0).normal(1.0, 0.2, size=20_000)
shares = np.array([0.0, 0.2, 0.5, 0.8])
means = [dropout(sample, p, np.random.default_rng(1))[0].mean() for p in shares]
plot.bars(
    means,
    labels=[f"p = {p}" for p in shares],
    ylabel="mean activation",
    title="Dropout keeps the mean",
)

# %% nbgrader={"grade_id": "regularisers-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

w1, w2 = np.array([[1.0, -2.0], [0.0, 3.0]]), np.array([2.0])
with check.case(
    "the penalty is half the strength times the squares",
    hint="0.5 * strength * sum of w**2 over all arrays",
):
    check.close(l2_penalty([w1, w2], 0.1)[0], 0.9)
with check.case(
    "each array has its own gradient, strength times w",
    hint="return a list: the gradient has the shape of its array",
):
    gradients = l2_penalty([w1, w2], 0.1)[1]
    check.equal(len(gradients), 2)
    check.close(gradients[0], 0.1 * w1)
    check.close(gradients[1], 0.1 * w2)
with check.case(
    "survivors are scaled by 1 / (1 - p), the rest is 0", hint="mask = (random >= p) / (1 - p)"
):
    ones, mask = dropout(np.ones((40, 50)), 0.75, np.random.default_rng(4))
    check.equal(sorted(set(np.round(np.asarray(mask).ravel(), 9).tolist())), [0.0, 4.0])
    check.close(ones, mask)
with check.case(
    "the drop happens where rng.random(x.shape) is below p",
    hint="one call of rng.random with x's shape",
):
    drawn = np.random.default_rng(4).random((6, 5))
    check.close(dropout(np.ones((6, 5)), 0.3, np.random.default_rng(4))[1], (drawn >= 0.3) / 0.7)
### BEGIN HIDDEN TESTS
with check.hidden_case("y is x times the mask", hint="multiply x by the mask that you return"):
    values = np.random.default_rng(7).normal(size=(3, 8))
    y, used = dropout(values, 0.5, np.random.default_rng(8))
    check.close(y, values * np.asarray(used))
with check.hidden_case("p = 0 drops nothing", hint="a random number is never below 0"):
    check.close(
        dropout(np.full((4, 4), 2.5), 0.0, np.random.default_rng(9))[0], np.full((4, 4), 2.5)
    )
with check.hidden_case("the penalty of no weights is 0", hint="a sum over an empty list"):
    check.close(l2_penalty([], 0.5)[0], 0.0)
with check.hidden_case(
    "the penalty's gradient agrees with finite differences",
    hint="the 2 of the square cancels the 1/2",
):
    check.gradient(lambda v: l2_penalty([v], 0.3)[0], w1, l2_penalty([w1], 0.3)[1][0])
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 6. The network (3 points)
#
# Now join the pieces.
# `forward(x, training)` sends x through each hidden layer, its activation and dropout, and last through the output
# layer, which has neither. Dropout acts only while `training` is true: otherwise drop with probability 0.
# Keep each hidden layer's slope $f'$ and mask for the way back.
#
# `backward(dlogits)` walks the layers in reverse.
# At each hidden layer the gradient is multiplied by the mask and by the slope, in the order in which the chain ends.
# Last, add the L2 gradient to every `layer.dw`; biases are not penalised.
#
# `loss_and_gradients` is given: it is all that a training loop needs. About 12 lines.


# %% nbgrader={"grade_id": "mlp", "solution": true}
class MLP:
    """A multilayer perceptron, for example sizes (64, 128, 10): one hidden layer of 128 units."""

    def __init__(
        self, sizes, *, activation: str = "relu", p: float = 0.0, l2: float = 0.0, seed: int = 0
    ) -> None:
        self.rng = np.random.default_rng(seed)  # draws the weights, then the dropout masks
        self.layers = [
            Linear(n_in, n_out, self.rng) for n_in, n_out in zip(sizes[:-1], sizes[1:], strict=True)
        ]
        self.activation, self.p, self.l2 = activation, p, l2

    def forward(self, x: np.ndarray, training: bool = False) -> np.ndarray:
        """Return the logits, shape (n, sizes[-1])."""
        ### BEGIN SOLUTION
        self.slopes, self.masks = [], []
        for layer in self.layers[:-1]:
            x, slope = activate(self.activation, layer.forward(x))
            x, mask = dropout(x, self.p if training else 0.0, self.rng)
            self.slopes.append(slope)
            self.masks.append(mask)
        return self.layers[-1].forward(x)
        ### END SOLUTION

    def backward(self, dlogits: np.ndarray) -> None:
        """Leave in every layer the gradients dw, penalty included, and db."""
        ### BEGIN SOLUTION
        dx = self.layers[-1].backward(dlogits)
        for layer, slope, mask in zip(
            self.layers[-2::-1], self.slopes[::-1], self.masks[::-1], strict=True
        ):
            dx = layer.backward(dx * mask * slope)
        for layer, penalty in zip(
            self.layers, l2_penalty([layer.w for layer in self.layers], self.l2)[1], strict=True
        ):
            layer.dw = layer.dw + penalty
        ### END SOLUTION

    def loss_and_gradients(self, x: np.ndarray, labels: np.ndarray, training: bool = True) -> float:
        """Return the loss with its penalty; run backward."""
        loss, dlogits = softmax_cross_entropy(self.forward(x, training), labels)
        self.backward(dlogits)
        return loss + l2_penalty([layer.w for layer in self.layers], self.l2)[0]


# %% explore=true
small = MLP((64, 16, 10), activation="tanh", p=0.5, l2=0.01, seed=1)
small.loss_and_gradients(x_train[:8], y_train[:8])
analytic = small.layers[0].dw.copy()


def loss_with(w):
    """The same loss, with the same dropout masks, at other first-layer weights."""
    twin = MLP((64, 16, 10), activation="tanh", p=0.5, l2=0.01, seed=1)
    twin.layers[0].w = w
    return twin.loss_and_gradients(x_train[:8], y_train[:8])


difference = np.abs(analytic - numeric_gradient(loss_with, small.layers[0].w))
relative = difference.max() / np.abs(analytic).max()
print(
    f"largest difference of {analytic.size} gradient entries: {relative:.1e} of the largest entry"
)

# %% [markdown]
# A difference below `1e-6` means that the derivation is right;
# an error in a formula shows as `1e-2` or worse, because it is wrong by a factor and not by rounding.
# The numeric gradient took two forward passes for each of the 1,024 weights.
# Backpropagation took one pass forward and one back for all of them.
# That ratio is why deep learning exists.

# %% nbgrader={"grade_id": "mlp-check", "grade": true, "points": 3}
import numpy as np

from labkit import check

rng = np.random.default_rng(11)
x, labels = rng.normal(size=(6, 5)), np.array([0, 1, 2, 2, 1, 0])


def gradient_of(sizes, number, **options):
    """Return the loss as a function of one layer's weights, these weights, and the gradient found."""

    def loss(w):
        model = MLP(sizes, **options)
        model.layers[number].w = w
        return model.loss_and_gradients(x, labels)

    model = MLP(sizes, **options)
    weights = np.array(model.layers[number].w)
    model.loss_and_gradients(x, labels)
    return loss, weights, np.array(model.layers[number].dw)


with check.case(
    "two layers compose: linear, activation, linear",
    hint="no activation and no dropout after the last layer",
):
    model = MLP((5, 4, 3), seed=2)
    first, last = model.layers
    hidden = np.maximum(x @ np.array(first.w) + np.array(first.b), 0)
    check.close(model.forward(x), hidden @ np.array(last.w) + np.array(last.b))
with check.case(
    "the gradient of one hidden layer, relu",
    hint="multiply by the slope of the layer whose input gradient you have",
):
    check.gradient(*gradient_of((5, 4, 3), 0, seed=3))
with check.case(
    "the gradient of two hidden layers, tanh",
    hint="walk the layers, slopes and masks in reverse, each with its own",
):
    check.gradient(*gradient_of((5, 4, 4, 3), 0, activation="tanh", seed=4))
    check.gradient(*gradient_of((5, 4, 4, 3), 1, activation="tanh", seed=4))
with check.case(
    "the L2 penalty reaches every layer's dw",
    hint="layer.dw + the penalty's gradient, for all layers",
):
    check.gradient(*gradient_of((5, 4, 3), 0, l2=0.3, seed=5))
    check.gradient(*gradient_of((5, 4, 3), 1, l2=0.3, seed=5))
with check.case(
    "with dropout, the gradient flows through the same mask",
    hint="dx * mask * slope, with the mask that forward drew",
):
    check.gradient(*gradient_of((5, 8, 3), 0, activation="sigmoid", p=0.5, seed=6))
### BEGIN HIDDEN TESTS
with check.hidden_case("no dropout outside training", hint="p only while training is true, else 0"):
    model = MLP((5, 16, 3), p=0.5, seed=7)
    check.close(model.forward(x), model.forward(x), rtol=0, atol=0)
with check.hidden_case(
    "dropout inside training", hint="pass self.p to dropout while training is true"
):
    model = MLP((5, 16, 3), p=0.5, seed=7)
    check.true(
        np.abs(np.array(model.forward(x, True)) - np.array(model.forward(x, False))).max() > 1e-3,
        "other logits while training",
    )
with check.hidden_case(
    "a network without a hidden layer", hint="the loop over hidden layers may be empty"
):
    check.gradient(*gradient_of((5, 3), 0, l2=0.1, seed=8))
with check.hidden_case(
    "all regularisers at once, three hidden layers",
    hint="does each layer use its own mask and slope?",
):
    check.gradient(*gradient_of((5, 6, 5, 4, 3), 1, activation="tanh", p=0.2, l2=0.05, seed=9))
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 7. Two optimisers (2 points)
#
# A gradient says where down is; an optimiser decides how far to go.
# *Momentum* keeps a running sum of gradients, $v \leftarrow \mu v + g$, and moves by $w \leftarrow w - \eta v$.
# *Adam* (Kingma & Ba 2015, algorithm 1) keeps running means of $g$ and $g^2$ and corrects them for starting at zero:
# $$m \leftarrow \beta_1 m + (1-\beta_1)\,g,\quad v \leftarrow \beta_2 v + (1-\beta_2)\,g^2,\quad
# w \leftarrow w - \eta\,\frac{m/(1-\beta_1^t)}{\sqrt{v/(1-\beta_2^t)}+\epsilon}.$$
#
# Both functions return new arrays and change none; $t$ counts from 1.
# From `w = 1`, `g = 2` and zero state, one step with `lr = 0.1` gives `0.8` with momentum,
# and `0.9` with Adam, whose first step has the length `lr` whatever the gradient. About 2 and 5 lines.


# %% nbgrader={"grade_id": "momentum-step", "solution": true}
def momentum_step(w, g, v, lr: float, momentum: float = 0.9):
    """Return (w, v) after one step; v is the running sum of gradients."""
    ### BEGIN SOLUTION
    v = momentum * v + g
    return w - lr * v, v
    ### END SOLUTION


# %% nbgrader={"grade_id": "adam-step", "solution": true}
def adam_step(
    w, g, m, v, t: int, lr: float, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8
):
    """Return (w, m, v) after step number t = 1, 2, ..."""
    ### BEGIN SOLUTION
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
    return w - lr * m_hat / (np.sqrt(v_hat) + eps), m, v
    ### END SOLUTION


# %% explore=true
start = np.array([-4.0, 1.5])
valley = np.array([0.05, 1.0])  # 20 times steeper one way than the other
paths = {"gradient descent": [start], "momentum": [start], "Adam": [start]}
velocity, m, v = np.zeros(2), np.zeros(2), np.zeros(2)
for t in range(1, 61):
    here = paths["gradient descent"][-1]
    paths["gradient descent"].append(momentum_step(here, valley * here, np.zeros(2), lr=0.5)[0])
    w, velocity = momentum_step(
        paths["momentum"][-1], valley * paths["momentum"][-1], velocity, lr=0.5, momentum=0.7
    )
    paths["momentum"].append(w)
    w, m, v = adam_step(paths["Adam"][-1], valley * paths["Adam"][-1], m, v, t, lr=0.2)
    paths["Adam"].append(w)
heights = {name: 0.5 * (valley * np.array(path) ** 2).sum(axis=1) for name, path in paths.items()}
plot.curves(
    heights, xlabel="step", ylabel="height", title="Sixty steps down a narrow valley", logy=True
)

# %% nbgrader={"grade_id": "optimisers-check", "grade": true, "points": 2}
import numpy as np

from labkit import check

one, two, none = np.array([1.0, -1.0]), np.array([2.0, 0.5]), np.zeros(2)
with check.case(
    "momentum: the first step is lr times the gradient",
    hint="v = momentum * v + g, then w - lr * v",
):
    check.close(momentum_step(one, two, none, 0.1)[0], [0.8, -1.05])
with check.case(
    "momentum: the second step remembers the first", hint="return the new v, and use it next time"
):
    w, v = momentum_step(one, two, none, 0.1, 0.5)
    check.close(momentum_step(w, two, v, 0.1, 0.5)[0], [0.5, -1.125])
with check.case(
    "Adam: the first step has the length lr",
    hint="divide both means by 1 - beta**t before you use them",
):
    check.close(adam_step(one, two, none, none, 1, 0.1)[0], [0.9, -1.1], atol=1e-6)
with check.case(
    "Adam returns the uncorrected means",
    hint="m and v go on as running means; only the step uses the corrected ones",
):
    _, m, v = adam_step(one, two, none, none, 1, 0.1)
    check.close(m, 0.1 * two)
    check.close(v, 0.001 * two**2)
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "Adam: ten steps of changing gradients",
    hint="t grows with each step; the root is taken of the corrected v, eps is added outside",
):
    w, m, v = np.array([0.5]), np.zeros(1), np.zeros(1)
    ref_w, ref_m, ref_v = 0.5, 0.0, 0.0
    for t in range(1, 11):
        g = np.array([np.cos(t) * 0.01])
        w, m, v = adam_step(w, g, m, v, t, 0.05, 0.8, 0.95, 1e-3)
        ref_m, ref_v = 0.8 * ref_m + 0.2 * g[0], 0.95 * ref_v + 0.05 * g[0] ** 2
        ref_w -= 0.05 * (ref_m / (1 - 0.8**t)) / ((ref_v / (1 - 0.95**t)) ** 0.5 + 1e-3)
    check.close(w, [ref_w], rtol=1e-9)
with check.hidden_case(
    "nothing is changed in place", hint="write m = beta1 * m + ..., not m *= beta1"
):
    weights, memory = np.array([1.0, 2.0]), np.array([0.5, 0.5])
    adam_step(weights, np.ones(2), memory, memory, 3, 0.1)
    momentum_step(weights, np.ones(2), memory, 0.1)
    check.close(weights, [1.0, 2.0])
    check.close(memory, [0.5, 0.5])
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 8. The training loop (2 points)
#
# An *epoch* shows every training image once, in a new random order, in batches of `batch_size`.
# `minibatches(n, batch_size, rng)` returns a list of index arrays: a permutation of `range(n)` from one call of
# `rng.permutation(n)`, cut into pieces; the last may be shorter, and no image is left out.
#
# `fit` draws new mini-batches each epoch from `rng = np.random.default_rng(seed)`.
# For each batch it calls `model.loss_and_gradients`, then `update` with the number of the step, counted from 1.
# It returns `{"loss": [...], "validation": [...]}`: per epoch the mean of the batches' losses,
# and the accuracy on `validation`, a pair `(x, labels)`, if there is one.
# `update` and `accuracy` are given below. About 2 and 12 lines.


# %% nbgrader={"grade_id": "update", "locked": true}
def update(model: MLP, optimizer: str, lr: float, t: int, state: dict) -> None:
    """Move every parameter one step; state keeps v, or m and v, of each of them, and starts as {}."""
    for number, layer in enumerate(model.layers):
        for name in ("w", "b"):
            value, gradient = getattr(layer, name), getattr(layer, "d" + name)
            memory = state.setdefault((number, name), [np.zeros_like(value), np.zeros_like(value)])
            if optimizer == "adam":
                value, *memory = adam_step(value, gradient, *memory, t, lr)
            else:
                value, memory[0] = momentum_step(value, gradient, memory[0], lr)
            setattr(layer, name, value)
            state[number, name] = memory


def accuracy(model: MLP, x: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of rows whose largest logit is the right one."""
    return float((model.forward(x).argmax(axis=1) == labels).mean())


# %% nbgrader={"grade_id": "minibatches", "solution": true}
def minibatches(n: int, batch_size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return a random permutation of range(n) in pieces of at most batch_size."""
    ### BEGIN SOLUTION
    order = rng.permutation(n)
    return [order[start : start + batch_size] for start in range(0, n, batch_size)]
    ### END SOLUTION


# %% nbgrader={"grade_id": "fit", "solution": true}
def fit(
    model, x, labels, *, epochs, lr, batch_size=32, optimizer="adam", seed=0, validation=None
) -> dict:
    """Train the model in place; return its loss and validation accuracy, one entry an epoch."""
    ### BEGIN SOLUTION
    rng = np.random.default_rng(seed)
    history, state, t = {"loss": [], "validation": []}, {}, 0
    for _ in range(epochs):
        losses = []
        for batch in minibatches(len(x), batch_size, rng):
            losses.append(model.loss_and_gradients(x[batch], labels[batch]))
            t += 1
            update(model, optimizer, lr, t, state)
        history["loss"].append(float(np.mean(losses)))
        if validation is not None:
            history["validation"].append(accuracy(model, *validation))
    return history
    ### END SOLUTION


# %% explore=true
model = MLP((64, 128, 10), p=0.2, seed=0)
history = fit(model, x_train, y_train, epochs=40, lr=2e-3, validation=(x_validation, y_validation))
plot.curves(
    {"training loss": history["loss"]},
    xlabel="epoch",
    ylabel="loss",
    title="Training loss of your network",
    logy=True,
)
plot.curves(
    {"validation accuracy": history["validation"]},
    xlabel="epoch",
    ylabel="accuracy",
    title="Validation accuracy of your network",
)
print(f"validation accuracy after 40 epochs: {history['validation'][-1]:.1%}")

# %% nbgrader={"grade_id": "fit-check", "grade": true, "points": 2}
import numpy as np

from labkit import check, load

digits = load("digits")
x_digits, labels = (
    digits.train.x.reshape(len(digits.train.y), -1).astype(np.float64),
    digits.train.y,
)
x_unseen = digits.test.x.reshape(len(digits.test.y), -1).astype(np.float64)
with check.case(
    "mini-batches hold every index once", hint="cut one permutation; keep the short last piece"
):
    batches = minibatches(10, 4, np.random.default_rng(0))
    check.equal([len(batch) for batch in batches], [4, 4, 2])
    check.equal(sorted(int(i) for batch in batches for i in batch), list(range(10)))
with check.case("the order is the generator's", hint="rng.permutation(n), once"):
    order = np.concatenate(
        [np.asarray(batch) for batch in minibatches(50, 8, np.random.default_rng(3))]
    )
    check.close(order, np.random.default_rng(3).permutation(50), rtol=0, atol=0)
with check.case(
    "history has an entry an epoch, and the loss falls",
    hint="append the mean of the epoch's losses after its last batch",
):
    student = MLP((64, 32, 10), seed=1)
    history = fit(
        student, x_digits, labels, epochs=5, lr=2e-3, validation=(x_unseen, digits.test.y)
    )
    check.equal([len(history["loss"]), len(history["validation"])], [5, 5])
    check.at_most(history["loss"][-1], 0.5 * history["loss"][0])
    now = (np.array(student.forward(x_unseen)).argmax(axis=1) == digits.test.y).mean()
    check.close(history["validation"][-1], now)
# Ten seeds give 97.2 to 98.1 % (benchmarks/lab01.py); 96 % leaves room for another order of sums.
with check.case(
    "the trained network reads at least 96 % of unseen digits",
    hint="does each batch do one update, with t counted from 1?",
):
    reader = MLP((64, 128, 10), p=0.2, seed=0)
    fit(reader, x_digits, labels, epochs=40, lr=2e-3)
    check.at_least(
        (np.array(reader.forward(x_unseen)).argmax(axis=1) == digits.test.y).mean(), 0.96
    )
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "a new order each epoch, one update a batch",
    hint="create the generator once, before the epochs; call update inside the batch loop",
):
    own, reference = MLP((64, 8, 10), seed=4), MLP((64, 8, 10), seed=4)
    fit(
        own,
        x_digits[:70],
        labels[:70],
        epochs=2,
        lr=0.05,
        batch_size=32,
        optimizer="momentum",
        seed=6,
    )
    order, speed = np.random.default_rng(6), [[0.0, 0.0], [0.0, 0.0]]
    for _ in range(2):
        shuffled = order.permutation(70)
        for batch in (shuffled[:32], shuffled[32:64], shuffled[64:]):
            reference.loss_and_gradients(x_digits[batch], labels[batch])
            for layer, kept in zip(reference.layers, speed, strict=True):
                kept[0] = 0.9 * kept[0] + np.array(layer.dw)
                kept[1] = 0.9 * kept[1] + np.array(layer.db)
                layer.w = np.array(layer.w) - 0.05 * kept[0]
                layer.b = np.array(layer.b) - 0.05 * kept[1]
    check.close(own.layers[0].w, reference.layers[0].w, rtol=1e-9)
with check.hidden_case(
    "Adam's step is counted over all epochs",
    hint="t grows with every batch and is not reset by an epoch",
):
    counting, by_hand = MLP((64, 10), seed=5), MLP((64, 10), seed=5)
    fit(counting, x_digits[:40], labels[:40], epochs=3, lr=0.01, batch_size=40, seed=1)
    mean, square = np.zeros((64, 10)), np.zeros((64, 10))
    bias = [np.zeros(10), np.zeros(10)]
    for t in (1, 2, 3):
        by_hand.loss_and_gradients(x_digits[:40], labels[:40])
        g, gb = np.array(by_hand.layers[0].dw), np.array(by_hand.layers[0].db)
        mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g**2
        bias = [0.9 * bias[0] + 0.1 * gb, 0.999 * bias[1] + 0.001 * gb**2]
        step = (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
        by_hand.layers[0].w = np.array(by_hand.layers[0].w) - 0.01 * step
        by_hand.layers[0].b = np.array(by_hand.layers[0].b) - 0.01 * (bias[0] / (1 - 0.9**t)) / (
            np.sqrt(bias[1] / (1 - 0.999**t)) + 1e-8
        )
    check.close(counting.layers[0].w, by_hand.layers[0].w, rtol=1e-6)
with check.hidden_case(
    "no validation, no accuracies", hint="append to validation only if a pair was given"
):
    check.equal(
        len(fit(MLP((64, 10)), x_digits[:64], labels[:64], epochs=2, lr=1e-3)["validation"]), 0
    )
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Look at what you built
#
# Your network is trained; the test set has waited for this moment.
# The confusion matrix shows which digits it takes for which.
# Below it are the first layer's weights, one small image a hidden unit:
# red where ink speaks for the unit, blue where it speaks against it.
# Nobody told the network about strokes.

# %% explore=true
predicted = model.forward(x_test).argmax(axis=1)
print(f"test accuracy: {(predicted == y_test).mean():.1%} of {len(y_test)} digits")
confusion = np.zeros((10, 10), dtype=int)
np.add.at(confusion, (y_test, predicted), 1)
names = [str(digit) for digit in range(10)]
plot.matrix(
    confusion,
    row_labels=names,
    column_labels=names,
    xlabel="predicted",
    ylabel="true",
    title="Confusion on the test set",
    off_diagonal=True,
)

# %% explore=true
wrong = np.flatnonzero(predicted != y_test)
plot.images(
    digits.test.x[wrong], titles=[f"{y_test[i]}, read as {predicted[i]}" for i in wrong], columns=6
)

# %% explore=true
strongest = np.argsort(-np.abs(model.layers[1].w).sum(axis=1))[:24]
plot.images(
    model.layers[0].w.T[strongest].reshape(-1, 8, 8),
    columns=12,
    signed=True,
    title="The 24 hidden units that matter most",
)

# %% [markdown]
# ### Predict, then measure (1 point)
#
# Three ways to spoil a network that works. Before you run them, commit to a number for each.
# You earn the point for writing your predictions down, whatever they are.
#
# * `"zero weights"`: all weights start at 0 instead of at random. Validation accuracy after 10 epochs?
# * `"ten times the rate"`: momentum works with a learning rate of 0.1. Validation accuracy after 10 epochs with 1.0?
# * `"wrong labels"`: 200 training images, of which one in five carries a random label.
#   Validation accuracy with neither dropout nor penalty?
#
# `predictions()` returns a dictionary with these three keys and an accuracy between 0 and 1 for each. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return the validation accuracies that I expect, each between 0 and 1."""
    ### BEGIN SOLUTION
    return {"zero weights": 0.9, "ten times the rate": 0.8, "wrong labels": 0.75}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "three predictions", hint="return a dictionary with exactly the three keys of the text"
):
    check.equal(sorted(predictions()), ["ten times the rate", "wrong labels", "zero weights"])
with check.case("each is an accuracy between 0 and 1", hint="0.25 means a quarter of the images"):
    for value in predictions().values():
        check.at_least(value, 0.0)
        check.at_most(value, 1.0)
check.score(1)

# %% [markdown]
# ### Experiment 1. Weights that start at zero

# %% explore=true
measured = {}
for start in ("random weights", "zero weights"):
    candidate = MLP((64, 128, 10), seed=0)
    if start == "zero weights":
        for layer in candidate.layers:
            layer.w = np.zeros_like(layer.w)
    run = fit(
        candidate,
        x_train,
        y_train,
        epochs=10,
        lr=0.1,
        optimizer="momentum",
        validation=(x_validation, y_validation),
    )
    measured[start] = run["validation"][-1]
    print(f"{start:15} loss {run['loss'][-1]:.3f}   validation accuracy {measured[start]:.1%}")
print(f"you predicted {predictions()['zero weights']:.1%} for zero weights")
print("first-layer gradient after ten epochs from zero:", np.abs(candidate.layers[0].dw).max())

# %% [markdown]
# $\log 10 = 2.303$ is the cost of knowing nothing.
# With zero weights every relu outputs 0, so the last layer's $dw = h^\top dy$ is 0;
# and the gradient that reaches the first layer is $dy\,w^\top$, which is 0 because $w$ is.
# Only the last bias moves, and with it the loss stays near 2.303.
# More data or more epochs change nothing: the network stands on a point of symmetry.

# %% [markdown]
# ### Experiment 2. Ten times the learning rate

# %% explore=true
runs = {}
for lr in (0.01, 0.1, 1.0):
    candidate = MLP((64, 128, 10), seed=0)
    runs[f"lr = {lr}"] = fit(
        candidate,
        x_train,
        y_train,
        epochs=10,
        lr=lr,
        optimizer="momentum",
        validation=(x_validation, y_validation),
    )
measured["ten times the rate"] = runs["lr = 1.0"]["validation"][-1]
plot.curves(
    {name: run["loss"] for name, run in runs.items()},
    xlabel="epoch",
    ylabel="training loss",
    title="The same network at three learning rates",
    logy=True,
)
print(
    f"validation accuracy at 1.0: {measured['ten times the rate']:.1%};",
    f"you predicted {predictions()['ten times the rate']:.1%}",
)

# %% [markdown]
# A rate too small wastes epochs; a rate too large destroys the network in its first steps.
# The jump pushes most hidden units so far that their relu outputs 0 for every image.
# Such a unit has slope 0 everywhere: no gradient ever brings it back.
# Large rates come back in lab 12, where big batches need a warm-up.

# %% [markdown]
# ### Experiment 3. Two hundred images, one label in five wrong


# %% explore=true
def noisy_run(seed: int, **options) -> float:
    """Train on 200 images with 20 % random labels; return the validation accuracy."""
    noise = np.random.default_rng(seed)
    some = noise.permutation(len(x_train))[:200]
    labels = np.where(noise.random(200) < 0.2, noise.integers(0, 10, 200), y_train[some])
    candidate = MLP((64, 256, 10), seed=seed, **options)
    fit(candidate, x_train[some], labels, epochs=60, lr=2e-3, batch_size=20, seed=seed)
    return accuracy(candidate, x_validation, y_validation)


regularisers = {"none": {}, "L2 0.01": {"l2": 0.01}, "dropout 0.7": {"p": 0.7}}
table = np.array(
    [
        [
            [noisy_run(seed, activation=f, **options) for seed in range(2)]
            for options in regularisers.values()
        ]
        for f in ("relu", "tanh", "sigmoid")
    ]
)
plot.matrix(
    table.mean(axis=2),
    row_labels=["relu", "tanh", "sigmoid"],
    column_labels=list(regularisers),
    fmt=".1%",
    title="Validation accuracy, one label in five wrong (two seeds)",
)
measured["wrong labels"] = table[0, 0].mean()
print(
    f"relu without a regulariser: {measured['wrong labels']:.1%};",
    f"you predicted {predictions()['wrong labels']:.1%}",
)

# %% [markdown]
# Without a regulariser the network learns the wrong labels by heart, all of them.
# Dropout and the penalty make memorising expensive, and what is left is what the images have in common.
# One cell goes the other way: with the sigmoid, the same penalty costs more than it gives.
# Sigmoid units pass on at most a quarter of a gradient and need larger weights; the penalty forbids them.
#
# Try `noise.random(200) < 0.0`: on clean labels relu's three columns differ by less than their spread over seeds.
# A regulariser is not a charm that makes networks better.
# It pays when there is something in the training set that should not be learned, and its strength is a choice.

# %% [markdown]
# ## What a framework does for you
#
# The same network in PyTorch: four lines define it, and `backward()` finds every gradient without a derivation.
# It is the same chain rule, applied by the same layer-by-layer walk;
# the framework writes `backward` for you, for any composition of its operators.

# %% explore=true
import torch

ours = MLP((64, 128, 10), seed=0)
ours.loss_and_gradients(x_train, y_train, training=False)
weights = [
    torch.tensor(value, requires_grad=True) for layer in ours.layers for value in (layer.w, layer.b)
]
hidden = torch.relu(torch.tensor(x_train) @ weights[0] + weights[1])
loss = torch.nn.functional.cross_entropy(hidden @ weights[2] + weights[3], torch.tensor(y_train))
loss.backward()
difference = max(np.abs(ours.layers[i].dw - weights[2 * i].grad.numpy()).max() for i in (0, 1))
print(f"largest difference between your gradients and PyTorch's: {difference:.1e}")

# %% [markdown]
# Does it also spare time? One training step of each, in turn, so that both feel the same disturbances.

# %% explore=true
mine, memory, step = MLP((64, 128, 10), seed=0), {}, itertools.count(1)
net = torch.nn.Sequential(
    torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
).double()
adam = torch.optim.Adam(net.parameters(), lr=2e-3)
x_batch, y_batch = x_train[:32], y_train[:32]
x_tensor, y_tensor = torch.tensor(x_batch), torch.tensor(y_batch)


def numpy_step():
    mine.loss_and_gradients(x_batch, y_batch)
    update(mine, "adam", 2e-3, next(step), memory)


def torch_step():
    adam.zero_grad()
    torch.nn.functional.cross_entropy(net(x_tensor), y_tensor).backward()
    adam.step()


compare({"your NumPy": numpy_step, "PyTorch": torch_step}, repeat=20)

# %% [markdown]
# On a network this small the framework is not faster on a CPU: both wait for the same small matrix products,
# and PyTorch records every operation in order to differentiate it.
# What it spares is your afternoon, and later, on larger networks and other hardware, the machine's time too.

# %% [markdown]
# ### With a GPU
#
# NumPy computes on the CPU only; a framework sends the same line of code to a GPU.
# The next cell times one layer forward at a size where that matters, or says that it has nothing to compare.

# %% explore=true
if device() == "cpu":
    print("No GPU here: nothing to compare. Lab 04 measures when one pays.")
else:
    batch, layer = np.random.default_rng(0).normal(size=(2, 4096, 4096)).astype(np.float32)
    on_device = [torch.tensor(a, device=device()) for a in (batch, layer)]
    cpu, gpu = bench(lambda: batch @ layer), bench(lambda: on_device[0] @ on_device[1])
    print(
        f"4096 x 4096 layer: NumPy {cpu.median_s * 1e3:.1f} ms, {device()} {gpu.median_s * 1e3:.2f} ms,",
        f"{cpu.median_s / gpu.median_s:.0f} x",
    )

# %% [markdown]
# ### In your words (4 points)
#
# Experiment 1 used relu. A classmate proposes a way out: keep the zero weights, but use the sigmoid,
# which outputs 0.5 and not 0, so that the last layer does get a gradient.
#
# 1. Which weights receive a non-zero gradient in the first step, and which only in the second?
# 2. After many steps, how do the 128 hidden units differ from each other? Argue from the update, not from an experiment.
# 3. How many hidden units does the trained network behave as if it had? What is the least that must be random?
#
# About 120 words. You may run the experiment to test your answer.

# %% [markdown] nbgrader={"grade_id": "symmetry", "grade": true, "solution": true, "points": 4}
# ### BEGIN SOLUTION
# **Model answer.**
# In the first step the last layer's weights move, because $dw = h^\top dy$ and every $h$ is 0.5;
# the first layer's gradient is $dy\,w^\top f'$ with $w = 0$, so it is 0.
# In the second step the last layer's weights are no longer 0, and the first layer moves too.
# All hidden units have the same input weights, the same output weights and so the same gradients:
# by induction they are equal after every step, as are the 128 rows of the last layer's weights.
# The network behaves as one with a single hidden unit, whose output counts 128 times.
# It is enough that either layer's weights are random, one value a unit: then the units receive different gradients.
# Biases of the hidden layer that differ from unit to unit also break the symmetry.
#
# **Rubric.**
#
# * 1 point: last layer in the first step, first layer from the second step on, each with its formula.
# * 1 point: the units stay equal, argued from equal weights and equal gradients, step after step.
# * 1 point: behaves as one hidden unit.
# * 1 point: names something that breaks the symmetry (random weights of one layer, or differing biases or dropout masks).
#
# Half a point off each for a claim without a reason. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## What you take along
#
# * Backpropagation is the chain rule with a memory: keep on the way forward what the way back needs.
# * A numeric gradient is slow and never wrong by a factor: check against it whatever you derive.
# * A loss that stays at $\log k$ means that the network knows nothing. Look at initialisation and learning rate first.
# * A framework writes `backward` for you. It does not choose your step size, notice dead units, or keep your test set unseen.
#
# Your measurements become result cards: one number, its spread, the machine and the date.
# The next lab runs this network in PyTorch and in Keras, from the same weights.

# %% explore=true
scores = []
for seed in range(5):
    reader = MLP((64, 128, 10), p=0.2, seed=seed)
    fit(reader, x_train, y_train, epochs=40, lr=2e-3, seed=seed)
    scores.append(accuracy(reader, x_test, y_test))
result_card(
    "NumPy MLP reads unseen digits", np.mean(scores), spread=np.std(scores), n=5, lab="01_numpy_mlp"
)
