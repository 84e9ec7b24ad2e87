# %% [markdown]
# # 12. Data parallel training
#
# **How do I train on P devices and get the same model?**
# Give each device a copy of the network and its own part of every batch, and add up the gradients.
# That sentence hides how it goes wrong: parts that overlap, averages over parts of different size,
# a device that has run out of data while the others wait for it.
# Here you write it, demand that P processes end with the weights of one,
# and ask how many devices you would rent.

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | training loops in PyTorch (lab 02), collectives and their costs (lab 11); lab 04 helps |
# | Time | about 6 hours, in two sittings: the same model, and how fast (up to Experiment 2); ranks that die, and large batches |
# | Points | 20: 16 from checks, 4 from two written answers |
# | Hardware | two CPU cores, which the ranks share; one cell near the end uses a GPU |
# | Source | C, a talk on distributed training with MXNet (`docs/claims.md` compares its numbers with ours) |

# %% [markdown]
# ## How this notebook works
#
# Each task asks for one function or class: replace the line that raises `NotImplementedError`, keep name and arguments.
# Then run the look cell and the check below it, and read the first case that fails.
# Hidden cases test what the text promises, with other numbers, when your work is graded.
# Your functions change no result that they have returned before.
# Cells that begin with `# explore` are yours to change and are not run then:
# a helper or an import that a task needs belongs in the task's cell, and your own plots are read as saved.
#
# A *rank* is one process of $P$, numbered from 0.
# `launch(fn, P, ...)` starts them on this machine and calls `fn(rank, P, ...)` in each.
# If one of them fails or waits forever, all are stopped, and you see where the guilty one was.

# %% nbgrader={"grade_id": "setup", "locked": true}
import contextlib
import math
import os
import resource
import signal
import tempfile
import time
from pathlib import Path
from unittest import mock

import cloudpickle
import numpy as np
import torch
from torch import distributed as dist
from torch import nn

from labkit import (
    check,
    device,
    in_fresh_process,
    launch,
    load,
    plot,
    result_card,
    torchrun,
)

torch.set_num_threads(1)
digits = load("digits")
(x_train, y_train), (x_validation, y_validation) = (
    (torch.tensor(split.x).reshape(-1, 64), torch.tensor(split.y))
    for split in (digits.train, digits.validation)
)
print(digits)

# %% [markdown]
# ## Who reads what
#
# ### Task 1. Shards (2 points)
#
# In each epoch every image is to be read once, by one rank, in a new random order.
# No rank has to ask another: all draw the same permutation from the number of the epoch,
# and each takes its own entries from it.
#
# `shard(indices, rank, world_size, epoch)` permutes `indices` by
# `np.random.default_rng(epoch).permutation(indices)`.
# Of the result, rank $r$ takes the entries at places $r$, $r + P$, $r + 2P$ and so on, in this order.
# So the shards are disjoint and complete, and their lengths differ by at most one.
# `indices` stays as it was.
#
# For `[10, 11, 12, 13, 14]`, two ranks and epoch 0 the permutation is `12, 14, 13, 10, 11`:
# rank 0 takes `[12, 13, 11]`, rank 1 `[14, 10]`. About 2 lines.


# %% nbgrader={"grade_id": "shard", "solution": true}
def shard(
    indices: np.ndarray, rank: int, world_size: int, epoch: int
) -> np.ndarray:
    """Return this rank's indices, in the order in which it reads them."""
    ### BEGIN SOLUTION
    order = np.random.default_rng(epoch).permutation(indices)
    return order[rank::world_size]
    ### END SOLUTION


# %% explore=true
print("ten images, three ranks, two images a step")
for epoch in (0, 1):
    parts = [shard(np.arange(10), r, 3, epoch) for r in range(3)]
    for r, part in enumerate(parts):
        steps = [str(part[k : k + 2].tolist()) for k in range(0, len(part), 2)]
        print(
            f"  epoch {epoch}, rank {r}:",
            "  ".join(f"{step:8}" for step in steps),
        )
whole_order = np.random.default_rng(0).permutation(np.arange(10)).tolist()
print("the permutation of epoch 0:", whole_order)

# %% [markdown]
# Read a column from top to bottom: the first steps of all ranks hold the first six images of the permutation.
# One process that reads batches of six in that order takes the same steps.
# It is called the *serial twin*, and everything below is measured against it.

# %% nbgrader={"grade_id": "shard-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def order_of(indices, epoch):
    """Return the order that all ranks draw."""
    return np.random.default_rng(epoch).permutation(indices)


with check.case(
    "the worked example",
    hint="the permutation is dealt out in turns, an entry to each rank",
):
    numbers = np.arange(10, 15)
    check.equal(
        np.asarray(shard(numbers, 0, 2, 0)).tolist(),
        [12, 13, 11],
        name="rank 0",
    )
    check.equal(
        np.asarray(shard(numbers, 1, 2, 0)).tolist(), [14, 10], name="rank 1"
    )
with check.case(
    "every index once, whatever P divides",
    hint="no padding and no cutting: the last round may not reach all ranks",
    essential=True,
):
    first = shard(np.arange(23), 0, 4, 5)
    with check.unchanged(first=first):
        rest = [shard(np.arange(23), r, 4, 5) for r in (1, 2, 3)]
    parts = [np.asarray(part) for part in (first, *rest)]
    check.equal(
        sorted(np.concatenate(parts).tolist()),
        list(range(23)),
        name="all indices",
    )
with check.case(
    "lengths differ by at most one",
    hint="the first n mod P ranks have one index more",
    guard=True,
):
    parts = [shard(np.arange(23), r, 4, 5) for r in range(4)]
    check.equal([len(part) for part in parts], [6, 6, 6, 5], name="lengths")
with check.case(
    "another epoch, another order, the same on all ranks",
    hint="the epoch, and nothing else, is the generator's seed",
    essential=True,
):
    for epoch in (1, 2, 30):
        mine = [
            np.asarray(shard(np.arange(9), r, 3, epoch)).tolist()
            for r in range(3)
        ]
        drawn = order_of(np.arange(9), epoch)
        check.equal(
            mine,
            [drawn[r::3].tolist() for r in range(3)],
            name=f"shards, epoch {epoch}",
        )
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the first steps of all ranks are the serial twin's first batch",
    hint="deal the permutation out in turns, entry by entry; do not cut it "
    "into P blocks",
):
    firsts = [
        np.asarray(shard(np.arange(40), r, 4, 3))[:5].tolist() for r in range(4)
    ]
    batch = order_of(np.arange(40), 3)[:20].tolist()
    found = sorted(np.concatenate(firsts).tolist())
    check.equal(found, sorted(batch), name="indices of the first steps")
with check.hidden_case(
    "any indices, and they stay as they were",
    hint="permute the indices themselves, on a copy",
):
    some = np.array([7, 3, 900, 41, 5, 12, 8])
    with check.unchanged(indices=some):
        found = shard(some, 1, 3, 8)
    check.equal(
        np.asarray(found).tolist(),
        order_of(some, 8)[1::3].tolist(),
        name="rank 1",
    )
    again = np.array([4, 9, 4, 4, 7, 9, 1])
    check.equal(
        np.asarray(shard(again, 1, 2, 3)).tolist(),
        order_of(again, 3)[1::2].tolist(),
        name="rank 1, of indices that occur twice",
    )
with check.hidden_case(
    "other indices in the same epoch, and earlier shards stay",
    hint="nothing is kept from one call to the next",
):
    both = np.arange(8), np.arange(8) * 11 + 5
    found = [shard(some, 1, 2, 6) for some in both]
    check.separate(found[1], found[0])
    for some, part in zip(both, found, strict=True):
        wanted = order_of(some, 6)[1::2].tolist()
        check.equal(
            np.asarray(part).tolist(), wanted, name=f"rank 1 of {some.tolist()}"
        )
with check.hidden_case(
    "more ranks than indices", hint="a rank may have an empty shard", guard=True
):
    lengths = [len(shard(np.arange(3), r, 5, 1)) for r in range(5)]
    check.equal(lengths, [1, 1, 1, 0, 0], name="lengths")
with check.hidden_case(
    "a single rank reads everything",
    hint="with P = 1 the shard is the whole permutation",
):
    found = np.asarray(shard(np.arange(12), 0, 1, 4)).tolist()
    check.equal(found, order_of(np.arange(12), 4).tolist(), name="rank 0 of 1")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ## Adding up gradients while they are made
#
# Sending a message of $m$ bytes takes $\alpha + \beta m$ seconds (lab 11).
# A message for each parameter pays $\alpha$ too often; one for all can leave only when backward is over.
# *Buckets* are in between (Li et al. 2020): some parameters share a message,
# which leaves as soon as their gradients are complete, while backward goes on with earlier layers.
#
# ![Two lanes. Compute: forward, backward through layers 4, 3, 2, 1, then the optimiser. Wire: bucket 0 starts when layers 4 and 3 are done and is hidden behind layers 2 and 1; bucket 1 starts after layer 1 and is seen.](figures/overlap.svg)

# %% [markdown]
# ### Task 2. Buckets (2 points)
#
# Backward computes the last layer's gradients first, so buckets are filled from the last parameter to the first.
#
# `buckets(sizes, limit)` takes the bytes of each parameter, in the model's order,
# and returns a list of buckets, each a list of parameter numbers; tuples will do as well.
# Go from the last parameter to the first.
# Put it into the open bucket if that then holds at most `limit` bytes; otherwise close the bucket and open the next one.
# A parameter that is larger than `limit` has a bucket of its own. A parameter may have 0 bytes; no bucket is empty, and without parameters there is none.
# `sizes` stays as it was.
#
# For sizes `[400, 100, 300, 250]` and limit 500 the buckets are `[[3], [2, 1], [0]]`:
# 250 and 300 are too much together, 300 and 100 are not. About 8 lines.


# %% nbgrader={"grade_id": "buckets", "solution": true}
def buckets(sizes: list[int], limit: int) -> list[list[int]]:
    """Return the parameter numbers of each bucket, the last parameter first."""
    ### BEGIN SOLUTION
    found, room = [], 0
    for number in reversed(range(len(sizes))):
        if not found or sizes[number] > room:
            found.append([])
            room = limit
        found[-1].append(number)
        room -= sizes[number]
    return found
    ### END SOLUTION


# %% explore=true
layers = [
    nn.Linear(64, 256),
    nn.Linear(256, 256),
    nn.Linear(256, 256),
    nn.Linear(256, 10),
]
sizes_of_net = [p.nbytes for layer in layers for p in layer.parameters()]
print(f"{len(sizes_of_net)} parameters, {sum(sizes_of_net):,} bytes, sizes")
print(sizes_of_net)
print(
    f"{'limit, KiB':>10} {'buckets':>8} {'first, bytes':>13} "
    f"{'largest, bytes':>15}"
)
for limit in (0, 16, 64, 300, 1024):
    held = [
        sum(sizes_of_net[i] for i in b)
        for b in buckets(sizes_of_net, limit * 1024)
    ]
    print(f"{limit:10} {len(held):8} {held[0]:13,} {max(held):15,}")

# %% [markdown]
# The first bucket is the one that can leave first.
# PyTorch's limit is 25 MiB, with a first bucket of 1 MiB, so that something leaves early.

# %% nbgrader={"grade_id": "buckets-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def plain(found):
    """Return lists of integers, whatever kinds of sequence came."""
    return [[int(number) for number in bucket] for bucket in found]


with check.case(
    "the worked example",
    hint="from which parameter to which? when is a bucket opened, the first "
    "one too, and when is it closed?",
):
    check.equal(
        plain(buckets([400, 100, 300, 250], 500)),
        [[3], [2, 1], [0]],
        name="buckets",
    )
with check.case(
    "a bucket may be exactly full",
    hint="at most the limit: exactly the limit is not too much",
):
    check.equal(
        plain(buckets([200, 300, 100, 400], 500)),
        [[3, 2], [1, 0]],
        name="buckets",
    )
with check.case(
    "a parameter above the limit has its own bucket",
    hint="it opens a bucket, and the next parameter opens another one; no "
    "bucket is empty",
):
    found = plain(buckets([10, 900, 20, 30], 100))
    check.equal(found, [[3, 2], [1], [0]], name="buckets")
with check.case(
    "limit 0: a bucket each",
    hint="every parameter is larger than 0; a bucket that is empty is not "
    "closed",
    guard=True,  # so is a plan that never looks at the limit
):
    check.equal(plain(buckets([8, 4, 4], 0)), [[2], [1], [0]], name="buckets")
### BEGIN HIDDEN TESTS


def planned(sizes, limit):
    """Return the buckets, found from where each of them ends."""
    found, end = [], len(sizes)
    while end > 0:
        begin = end - 1
        while begin > 0 and sum(sizes[begin - 1 : end]) <= limit:
            begin -= 1
        found.append(list(range(end - 1, begin - 1, -1)))
        end = begin
    return found


with check.hidden_case(
    "a limit above the sum: one bucket",
    hint="close it only when it is full",
    guard=True,
):
    check.equal(
        plain(buckets([5, 6, 7, 8, 9], 1000)), [[4, 3, 2, 1, 0]], name="buckets"
    )
with check.hidden_case(
    "the large one comes first, or last",
    hint="do not open an empty bucket before or after it",
):
    check.equal(plain(buckets([1, 1, 70], 50)), [[2], [1, 0]], name="buckets")
    check.equal(plain(buckets([70, 1, 1], 50)), [[2, 1], [0]], name="buckets")
with check.hidden_case(
    "a closed bucket stays closed",
    hint="a small parameter goes into the open bucket, not back into one that "
    "has room",
):
    check.equal(
        plain(buckets([10, 80, 60], 100)), [[2], [1, 0]], name="buckets"
    )
    check.equal(
        plain(buckets([30, 90, 60], 100)), [[2], [1], [0]], name="buckets"
    )
with check.hidden_case(
    "forty parameters, at several limits",
    hint="go down from the last one, and look only at the bucket that is open",
    essential=True,
):
    for seed, limit in ((0, 100), (1, 100), (2, 250), (3, 30)):
        some = np.random.default_rng(seed).integers(1, 90, 40).tolist()
        check.equal(
            plain(buckets(some, limit)),
            planned(some, limit),
            name=f"limit {limit}",
        )
with check.hidden_case(
    "thousands of parameters, and one of 16 MiB",
    hint="a loop, and whole numbers",
):
    many = np.random.default_rng(4).integers(1, 9, 3000).tolist()
    check.equal(plain(buckets(many, 20)), planned(many, 20), name="limit 20")
    check.equal(
        plain(buckets([2, 2**24 - 1], 2**24)),
        [[1], [0]],
        name="a byte too much",
    )
with check.hidden_case(
    "no parameters, no buckets", hint="return an empty list", guard=True
):
    check.equal(plain(buckets([], 100)), [], name="buckets")
    check.equal(
        plain(buckets([3, 0], 10)), [[1, 0]], name="buckets of 3 and 0 bytes"
    )
    check.equal(
        plain(buckets([50, 0], 10)), [[1], [0]], name="of 50 and 0 bytes"
    )
with check.hidden_case(
    "the sizes stay as they were, and so do earlier buckets",
    hint="count numbers down; take nothing out; begin with a new list",
    guard=True,
):
    some = [400, 100, 300, 250]
    with check.unchanged(sizes=some):
        first = buckets(some, 500)
    check.separate(buckets([5, 6], 3), first)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### What is given: a wire, and the slow way
#
# `Wire` stands between you and `torch.distributed`, and keeps a log. This is all of it that you need:
#
# * `wire.broadcast(tensor)` overwrites a tensor with rank 0's, in place.
# * `wire.all_reduce(tensor)` begins to add up a tensor over all ranks, as it is now, and returns at once, with a `Work`.
#   `work.wait()` waits, and only then writes the sum into that tensor.
# * `wire.total(number)` returns the sum of a number over all ranks.
#
# All ranks must call the same operations in the same order, with tensors of the same size.
# Outside of a launch there is one rank, and every answer comes at once.
#
# `pack(parameters)` lays their gradients in one row; `unpack(row, parameters)` writes such a row back.
# A parameter without a gradient counts as zeros.


# %% folded=true nbgrader={"grade_id": "wire", "locked": true}
class Work:
    """A sum that is under way; `wait` writes it into the tensor."""

    def __init__(self, tensor, total, arrive) -> None:
        self.tensor, self.total, self.arrive = tensor, total, arrive

    def wait(self) -> None:
        """Wait for the other ranks and write the sum into the tensor."""
        self.arrive()
        self.tensor.copy_(self.total)


class Wire:
    """One rank's collective operations; `log` notes (what, bytes) of each."""

    def __init__(self, where: str = "cpu") -> None:
        self.connected, self.where, self.log = dist.is_initialized(), where, []

    def broadcast(self, tensor: torch.Tensor) -> None:
        """Overwrite the tensor with rank 0's."""
        self.log.append(("broadcast", tensor.nbytes))
        if self.connected:
            dist.broadcast(tensor.detach(), 0)

    def all_reduce(self, tensor: torch.Tensor) -> Work:
        """Begin to add up a tensor over all ranks."""
        self.log.append(("all-reduce", tensor.nbytes))
        total = tensor.detach().clone()
        handle = (
            dist.all_reduce(total, async_op=True) if self.connected else None
        )

        def arrive() -> None:
            self.log.append(("wait", tensor.nbytes))
            if handle is not None:
                handle.wait()

        return Work(tensor, total, arrive)

    def total(self, number: float) -> float:
        """Return the sum of a number over all ranks, when all have called."""
        value = torch.tensor(
            float(number), dtype=torch.float64, device=self.where
        )
        if self.connected:
            dist.all_reduce(value)
        return value.item()


def pack(parameters) -> torch.Tensor:
    """Return the gradients of some parameters, flat, in one row."""
    rows = [
        torch.zeros_like(p) if p.grad is None else p.grad for p in parameters
    ]
    return torch.cat([row.flatten() for row in rows])


def unpack(row: torch.Tensor, parameters) -> None:
    """Write such a row back into the gradients."""
    for p, part in zip(
        parameters, row.split([p.numel() for p in parameters]), strict=True
    ):
        p.grad = part.view_as(p)


# %% [markdown]
# `OneByOne` is complete, and slow: it sends a message for each parameter.
# `register_post_accumulate_grad_hook(fn)` has `fn(p)` called in each backward pass, as soon as `p.grad` is complete.
# While `sync` is false nothing is sent, and gradients of several backward passes add up in `p.grad`.
# After the one for which it is true, `finish` waits, and each `p.grad` holds the sum over all ranks.


# %% nbgrader={"grade_id": "one-by-one", "locked": true}
class OneByOne:
    """Sums gradients over all ranks with a message for each parameter."""

    def __init__(self, model, wire) -> None:
        self.model, self.wire, self.sync, self.sent = model, wire, True, []
        for p in model.parameters():
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self.send)

    def send(self, p) -> None:
        """Begin to sum one gradient."""
        if self.sync:
            self.sent.append(self.wire.all_reduce(p.grad))

    def finish(self) -> None:
        """Wait for all sums."""
        for work in self.sent:
            work.wait()
        self.sent.clear()


# %% folded=true nbgrader={"grade_id": "small-networks", "locked": true}
class Scale(nn.Module):
    """Multiplies by a buffer: part of the model, but it does not learn."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(16), persistent=False)

    def forward(self, x):
        """Return x times the buffer."""
        return x * self.scale


class Crossed(nn.Module):
    """Three layers, defined in another order than they are used in."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last, self.middle = (
            nn.Linear(64, 8),
            nn.Linear(8, 10),
            nn.Linear(8, 8),
        )

    def forward(self, x):
        """Return the logits."""
        return self.last(torch.relu(self.middle(self.first(x))))


class Branches(nn.Module):
    """One layer, one of two branches, one layer; in turns, if it is told."""

    def __init__(self, even: bool, turns: bool = False) -> None:
        super().__init__()
        self.turns = turns
        self.first, self.a, self.b = (
            nn.Linear(64, 8),
            nn.Linear(8, 8),
            nn.Linear(8, 8),
        )
        self.last, self.even = nn.Linear(8, 10), even

    def forward(self, x):
        """Return the logits."""
        branch = self.a if self.even else self.b
        self.even ^= self.turns
        return self.last(torch.relu(branch(self.first(x))))


def network(
    kind: str = "plain", seed: int = 0, dtype=torch.float64, even: bool = True
):
    """Return a small network of one of six kinds.

    Of these "tied" uses its middle layer twice, and "frozen" does not train
    its first.
    """
    torch.manual_seed(seed)
    if kind in ("branches", "turns"):
        return Branches(even, kind == "turns").to(dtype)
    if kind == "crossed":
        return Crossed().to(dtype)
    first, middle, last = (
        nn.Linear(64, 16),
        nn.Linear(16, 16),
        nn.Linear(16, 10),
    )
    again = middle if kind == "tied" else nn.Linear(16, 16)
    first.requires_grad_(kind != "frozen")
    layers = [first, nn.ReLU(), middle, nn.ReLU(), again, Scale(), last]
    return nn.Sequential(*layers).to(dtype)


# %% [markdown]
# ### Task 3. Buckets on the wire (4 points)
#
# `DDP(model, wire, limit)` (short for *distributed data parallel*) has the same interface, `ready` in place of `send`.
# It is one class; write it in three steps, and run the look cell after each.
#
# **Step 1: one message.** When it is made, it broadcasts each parameter and each buffer (`model.buffers()`), once,
# frozen ones too: all ranks start from rank 0's.
# `finish()` packs the gradients of all parameters that learn, starts one all-reduce, waits, and unpacks the sum:
# afterwards each of these parameters has the sum over all ranks in `grad`. `ready` does nothing yet. About 8 lines.
#
# **Step 2: buckets.** The parameters that learn, numbered without the frozen ones,
# travel in the buckets of Task 2 (`p.nbytes`, `limit`), an all-reduce a bucket.
# `finish()` starts bucket 0 first, then 1 and so on, on every rank, and then waits for all. About 4 more lines.

# %% [markdown]
# **Step 3: overlap.** Register `ready` with each parameter that learns: `p.grad` is complete.
# `ready(p)` starts each bucket whose turn it is:
# all its gradients are complete, and all buckets before it have started. It never waits. While `sync` is false it does nothing.
# `finish()` now starts only the buckets that are left, then waits for all; the next step can begin. About 6 more lines.
#
# A trap when you note which gradients are complete: `in` and `index` of a list compare tensors number by number.
# Keys of a dictionary and members of a set go by identity, and a parameter may be either.

# %% [markdown]
# The look cell prints a step for a limit of 4200 bytes and parameters 0 to 7:
#
# | after | what the log says |
# |---|---|
# | step 1 | eight gradients, then one all-reduce of all bytes, and a wait |
# | step 2 | eight gradients, then three all-reduces, then three waits |
# | step 3 | gradients 7 to 3, bucket 0 leaves, gradients 2 and 1, bucket 1 leaves, gradient 0, bucket 2 leaves; then three waits |
#
# Helpers of your own are welcome.


# %% nbgrader={"grade_id": "ddp", "solution": true}
class DDP:
    """Sums gradients over all ranks by buckets, while backward goes on."""

    def __init__(self, model, wire, limit: int = 25 * 2**20) -> None:
        self.model, self.wire, self.sync = model, wire, True
        ### BEGIN SOLUTION
        for tensor in [*model.parameters(), *model.buffers()]:
            wire.broadcast(tensor)
        learning = [p for p in model.parameters() if p.requires_grad]
        plan = buckets([p.nbytes for p in learning], limit)
        self.groups = [
            [learning[number] for number in bucket] for bucket in plan
        ]
        for p in learning:
            p.register_post_accumulate_grad_hook(self.ready)
        self.complete, self.started = set(), []
        ### END SOLUTION

    def ready(self, p) -> None:
        """Note that p.grad is complete; start buckets whose turn it is."""
        ### BEGIN SOLUTION
        if self.sync:
            self.complete.add(p)
            while (turn := len(self.started)) < len(self.groups):
                if not self.complete.issuperset(self.groups[turn]):
                    break
                self.start(turn)
        ### END SOLUTION

    def finish(self) -> None:
        """Start the rest, wait for all sums, write them into the gradients."""
        ### BEGIN SOLUTION
        for turn in range(len(self.started), len(self.groups)):
            self.start(turn)
        for group, (row, work) in zip(self.groups, self.started, strict=True):
            work.wait()
            unpack(row, group)
        self.complete, self.started = set(), []

    def start(self, turn):
        """Begin to sum a bucket."""
        row = pack(self.groups[turn])
        self.started.append((row, self.wire.all_reduce(row)))
        ### END SOLUTION


# %% [markdown]
# `one_backward`, given, takes one backward pass in each rank.
# Its log also holds a pair `("gradient", number)` for each gradient that becomes complete, numbered in the model's order.


# %% folded=true nbgrader={"grade_id": "one-backward", "locked": true}
def one_backward(
    rank,
    world_size,
    kind,
    limit,
    parts,
    passes=(True,),
    steps=1,
    beside=False,
    dtype=torch.float64,
):
    """Return the gradients, all tensors, and the log of the last step.

    passes: what `sync` is in each backward pass of a step.
    beside: whether there is a second DDP, of another model, whose step
    lies around the first one's.
    """
    model, wire = network(kind, rank, dtype, even=rank == 0), Wire()
    for buffer in model.buffers():
        buffer.add_(rank)
    learning = [tensor for tensor in model.parameters() if tensor.requires_grad]
    for number, p in enumerate(learning):
        p.register_post_accumulate_grad_hook(
            lambda _, note=("gradient", number): wire.log.append(note)
        )
    ddp = DDP(model, wire, limit)
    other = DDP(network("tied"), Wire(), limit) if beside else None
    begin = wire.log[:]
    x, y = (torch.as_tensor(array) for array in parts[rank])

    def backward(net):
        logits = net(x.to(next(net.parameters()).dtype))
        nn.functional.cross_entropy(logits, y, reduction="sum").backward()

    for _ in range(steps):
        wire.log.clear()
        model.zero_grad()
        if other is not None:
            backward(other.model)
        for ddp.sync in passes:
            backward(model)
        early = wire.log[:]
        ddp.finish()
        if other is not None:
            other.finish()
    tensors = [*model.parameters(), *model.buffers()]
    return {
        "gradients": [
            None if p.grad is None else p.grad.numpy().copy() for p in learning
        ],
        "tensors": [t.detach().numpy().copy() for t in tensors],
        "beside": [p.grad.numpy().copy() for p in other.model.parameters()]
        if other is not None
        else [],
        "begin": begin,
        "early": early,
        "log": wire.log,
    }


def backward_passes(rank, world_size, cases):
    """Return what one_backward returns, for each case."""
    return [one_backward(rank, world_size, *case) for case in cases]


# %% explore=true
some = [(x_train[:8].double().numpy(), y_train[:8].numpy())]
staircases = {}
for limit, title in (
    (0, "a message each"),
    (4200, "limit 4200 bytes"),
    (10**6, "one bucket"),
):
    log = one_backward(0, 1, "plain", limit, some)["log"]
    computed = np.cumsum([what == "gradient" for what, _ in log])
    sent = np.cumsum([held * (what == "all-reduce") for what, held in log])
    staircases[title] = (computed, sent / sent[-1])
    print(
        f"{title:16}  messages: {sum(what == 'all-reduce' for what, _ in log)}"
    )
plot.curves(
    staircases,
    xlabel="gradients that backward has completed",
    ylabel="share of the bytes under way",
    title="One backward pass of your DDP",
)
for what, held in one_backward(0, 1, "plain", 4200, some)["log"]:
    print(f"  {what:10} {held}" + ("" if what == "gradient" else " bytes"))

# %% [markdown]
# Each line climbs by one bucket when that bucket leaves; the log shows the limit in between, event by event.
# The last layer's gradients come first, and messages leave between those that follow.
# One bucket for all leaves when backward is over: nothing is hidden behind it.

# %% [markdown]
# **Before you check**, the rare cases that it asks for:
#
# * What is frozen sends no gradient; a tied weight is one parameter.
# * Some parameter got no gradient here: its bucket is left for `finish`, and it counts as zeros.
#   If there is one in `grad` from a pass before, with `sync` false, that is sent.
# * There may be several `DDP`s in one process, and their steps may overlap.
# * Everything that is sent goes through `wire`.

# %% nbgrader={"grade_id": "ddp-check", "grade": true, "points": 4}
import itertools
from functools import cache

import numpy as np
import torch
from torch import nn

from labkit import check, launch

draw = np.random.default_rng(12)
PARTS = [
    (draw.normal(size=(n, 64)), draw.integers(0, 10, n)) for n in (6, 3, 4)
]


class Scaled(nn.Module):
    """The notebook's Scale, of the test's own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(16), persistent=False)

    def forward(self, x):
        return x * self.scale


def twin(kind, even=True):
    """Return rank 0's network, built here."""
    torch.manual_seed(0)
    if kind == "crossed":
        first, last, middle = (
            nn.Linear(64, 8),
            nn.Linear(8, 10),
            nn.Linear(8, 8),
        )
        every = [
            p
            for layer in (first, last, middle)
            for p in layer.double().parameters()
        ]
        return nn.Sequential(first, middle, nn.ReLU(), last), every, []
    if kind in ("branches", "turns"):
        first, a, b = nn.Linear(64, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        last = nn.Linear(8, 10)
        every = [
            p
            for layer in (first, a, b, last)
            for p in layer.double().parameters()
        ]
        return (
            nn.Sequential(first, a if even else b, nn.ReLU(), last),
            every,
            [],
        )
    first, middle, last = (
        nn.Linear(64, 16),
        nn.Linear(16, 16),
        nn.Linear(16, 10),
    )
    again = middle if kind == "tied" else nn.Linear(16, 16)
    first.requires_grad_(kind != "frozen")
    net = nn.Sequential(
        first, nn.ReLU(), middle, nn.ReLU(), again, Scaled(), last
    ).double()
    return net, list(net.parameters()), list(net.buffers())


def sums(kind, ranks, passes=1):
    """Return the gradients of all ranks' losses, added up."""
    totals = None
    turns = (False, True) if kind == "turns" else (True,)
    for rank, turn in itertools.product(range(ranks), turns):
        net, every, _ = twin(kind, even=(rank == 0) == turn)
        x, y = (torch.as_tensor(part) for part in PARTS[rank])
        nn.functional.cross_entropy(net(x), y, reduction="sum").backward()
        found = [
            np.zeros(p.shape)
            if p.grad is None
            else passes // len(turns) * p.grad.numpy()
            for p in every
            if p.requires_grad
        ]
        totals = (
            found
            if totals is None
            else [a + b for a, b in zip(totals, found, strict=True)]
        )
    return totals


def learning_bytes(kind):
    """Return the bytes of each parameter that learns."""
    return [p.numel() * 8 for p in twin(kind)[1] if p.requires_grad]


def planned(sizes, limit):
    """Return the plan of Task 2, right or wrong: this is about the wire."""
    plan = [
        [int(number) for number in bucket]
        for bucket in buckets(list(sizes), limit)
    ]
    held = sorted(number for bucket in plan for number in bucket)
    title = f"parameters in the buckets of Task 2, limit {limit}"
    check.equal(held, list(range(len(sizes))), name=title)
    return plan


def expect_several(kind, limit):
    """Expect several buckets: from one alone, nothing can leave early."""
    sizes = learning_bytes(kind)
    title = f"buckets of Task 2 for {sum(sizes)} bytes, limit {limit}"
    check.at_least(len(planned(sizes, limit)), 2, name=title)


def expected_log(log, sizes, limit):
    """Return gradients and starts as they follow from the gradients' order."""
    plan, complete, started, found = planned(sizes, limit), set(), 0, []
    for number in [value for what, value in log if what == "gradient"]:
        found.append(("gradient", number))
        complete.add(number)
        while started < len(plan) and complete.issuperset(plan[started]):
            found.append(("all-reduce", sum(sizes[i] for i in plan[started])))
            started += 1
    return found + [
        ("all-reduce", sum(sizes[i] for i in bucket))
        for bucket in plan[started:]
    ]


# What is launched together: a case that hangs or fails takes only its own group
# with it.
LAUNCHES = [
    [(2, "plain", 2100, (True,), 1)],
    [(2, "plain", 2100, (False, True), 1), (2, "tied", 700, (True,), 1)],
    [(2, "plain", 900, (True,), 3), (2, "frozen", 1400, (True,), 2)],
    [(2, "crossed", 700, (True,), 1), (2, "crossed", 10**6, (True,), 2)],
    [
        (3, "branches", 0, (True,), 1),
        (3, "branches", 800, (True,), 1),
        (3, "branches", 10**6, (True,), 3),
        (3, "turns", 800, (False, True), 1),
    ],
]


@cache
def run_group(place):
    """Launch a group once; return what each rank returns, or the error."""
    ranks = LAUNCHES[place][0][0]
    cases = [
        (kind, limit, PARTS[:ranks], *more)
        for _, kind, limit, *more in LAUNCHES[place]
    ]
    try:
        return launch(
            backward_passes, ranks, cases, timeout_s=4, backend="gloo"
        ), None
    except Exception as error:
        return None, error


def said(error):
    """Return what launch says of the ranks, as far as it is a cause."""
    lines = str(error).split("\n\n")[0].splitlines()
    lines = [line.removeprefix("hint:").strip() for line in lines]
    idle = "a consequence", "timeout_s"
    return ";\n".join(
        line for line in lines if not any(words in line for words in idle)
    )


def ranks_of(*case):
    """Return what each rank returned; show an error without traceback."""
    place = next(k for k, group in enumerate(LAUNCHES) if case in group)
    found, error = run_group(place)
    if isinstance(error, NotImplementedError):
        raise error
    if error is not None:
        hint = (
            "all ranks make the same calls in the same order; "
            'launch(one_backward, 2, "plain", 2100, PARTS[:2], '
            'backend="gloo") says more'
        )
        raise check.Mismatch(said(error), hint)
    return [rank[LAUNCHES[place].index(case)] for rank in found]


def compare_sums(kind, ranks, limit, passes=(True,), steps=1):
    """Compare gradients with the sums, in float64 in another order."""
    wanted = sums(kind, ranks, len(passes))
    for rank, found in enumerate(ranks_of(ranks, kind, limit, passes, steps)):
        for number, want in enumerate(wanted):
            name = f"rank {rank}, gradient {number}"
            check.close(
                found["gradients"][number],
                want,
                rtol=1e-10,
                atol=1e-12,
                name=name,
            )


def alone(kind, limit, *more):
    """Return what one rank, without others, does."""
    return one_backward(0, 1, kind, limit, PARTS[:1], *more)


def without_waits(log):
    """Return a log's gradients and starts."""
    return [
        tuple(entry) for entry in log if entry[0] in ("gradient", "all-reduce")
    ]


def compare_logs(log, wanted, name="gradients and messages"):
    """Compare gradients and starts, each in words."""
    units = {"gradient": "", "all-reduce": " bytes"}
    told = [
        [f"{what} {held}{units[what]}" for what, held in without_waits(entries)]
        for entries in (log, wanted)
    ]
    check.equal(*told, name=name)


with check.case(
    "each parameter and each buffer is broadcast once",
    hint="all that a model holds, learning or not, when the DDP is made",
):
    begin = [tuple(entry) for entry in alone("plain", 2100)["begin"]]
    _, every, buffers = twin("plain")
    wanted = sorted(t.numel() * t.element_size() for t in [*every, *buffers])
    check.equal(
        sorted(held for what, held in begin if what == "broadcast"),
        wanted,
        name="bytes",
    )
with check.case(
    "a bucket leaves when it is full, the last layers first",
    hint="after each gradient: which bucket is next, and is all of it there?",
):
    expect_several("plain", 2100)
    log = alone("plain", 2100)["log"]
    wanted = expected_log(log, learning_bytes("plain"), 2100)
    compare_logs(log, wanted, "gradients and messages")
with check.case(
    "ready never waits",
    hint="keep the Work that all_reduce returns; wait in finish",
    guard=True,
):
    early = [entry[0] for entry in alone("plain", 2100)["early"]]
    check.equal(early.count("wait"), 0, name="waits before finish")
with check.case(
    "two ranks start from rank 0's parameters and buffers",
    hint="broadcast in place; wire.broadcast does that to the tensor that it "
    "is given",
):
    _, every, buffers = twin("plain")
    second = ranks_of(2, "plain", 2100, (True,), 1)[1]["tensors"]
    for number, tensor in enumerate([*every, *buffers]):
        check.close(
            second[number],
            tensor.detach(),
            rtol=0,
            atol=0,
            name=f"rank 1, tensor {number}",
        )
with check.case(
    "gradients are sums over both ranks",
    hint="what a row holds after the wait goes back into the gradients; a sum, "
    "not a mean",
    essential=True,
):
    compare_sums("plain", 2, 2100)
with check.case(
    "while sync is false nothing is sent",
    hint="ready does nothing then, and notes nothing; p.grad adds up by itself",
):
    sizes = learning_bytes("plain")
    log = without_waits(alone("plain", 2100, (False, True))["log"])
    first, second = log[: len(sizes)], log[len(sizes) :]
    check.equal(
        [what for what, _ in first],
        ["gradient"] * len(sizes),
        name="first pass",
    )
    compare_logs(second, expected_log(second, sizes, 2100), "second pass")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "gradients of two passes add up before they are sent",
    hint="a bucket leaves in the last pass, when p.grad holds the sum of all "
    "passes",
):
    compare_sums("plain", 2, 2100, (False, True))
with check.hidden_case(
    "layers that run in another order than they are defined in: sums over both "
    "ranks",
    hint="a bucket may leave when each of its gradients is there, in whatever "
    "order they came",
    essential=True,
):
    compare_sums("crossed", 2, 700)
    compare_sums("crossed", 2, 10**6, (True,), 2)
    for limit in (700, 10**6):
        log = alone("crossed", limit)["log"]
        wanted = expected_log(log, learning_bytes("crossed"), limit)
        compare_logs(log, wanted, f"gradients and messages, limit {limit}")
with check.hidden_case(
    "frozen parameters send no gradients, and are broadcast all the same",
    hint="what learns stands in a bucket; what does not has to start alike, "
    "too",
):
    found = alone("frozen", 3000)
    sent = [held for what, held in found["log"] if what == "all-reduce"]
    check.equal(
        sum(sent), sum(learning_bytes("frozen")), name="bytes of gradients"
    )
    _, every, buffers = twin("frozen")
    begin = sum(held for what, held in found["begin"] if what == "broadcast")
    wanted = sum(t.numel() * t.element_size() for t in [*every, *buffers])
    check.equal(begin, wanted, name="bytes of broadcasts")
    compare_sums("frozen", 2, 1400, (True,), 2)
with check.hidden_case(
    "a tied weight is broadcast and sent once",
    hint="it is one parameter, in two places of the model: who names it once, "
    "who twice?",
):
    found = alone("tied", 700)
    _, every, _ = twin("tied")
    started = [held for what, held in found["begin"] if what == "broadcast"]
    check.equal(
        len(started),
        len(every) + 1,
        name="broadcasts: parameters, and a buffer",
    )
    sent = sum(held for what, held in found["log"] if what == "all-reduce")
    check.equal(sent, sum(learning_bytes("tied")), name="bytes of gradients")
    compare_sums("tied", 2, 700)
with check.hidden_case(
    "the third step is like the first",
    hint="finish forgets what was complete and started",
):
    log = alone("plain", 900, (True,), 3)["log"]
    compare_logs(log, expected_log(log, learning_bytes("plain"), 900))
    compare_sums("plain", 2, 900, (True,), 3)
with check.hidden_case(
    "every bucket that is complete has left before finish is called",
    hint="the last gradients belong to a bucket, too: it starts when they are "
    "complete",
):
    expect_several("plain", 900)
    found = alone("plain", 900)
    compare_logs(
        found["early"], found["log"], "gradients and messages before finish"
    )
with check.hidden_case(
    "a second DDP, of another model, leaves the first as it is",
    hint="each keeps its own buckets: what stands in the class is shared",
):
    found = alone("plain", 900, (True,), 1, True)
    wanted = expected_log(found["log"], learning_bytes("plain"), 900)
    compare_logs(found["log"], wanted)
    for number, want in enumerate(sums("plain", 1)):
        came = found["gradients"][number]
        check.close(
            came, want, rtol=1e-10, atol=1e-12, name=f"gradient {number}"
        )
    for number, want in enumerate(sums("tied", 1)):
        name = f"gradient {number} of the other"
        came = found["beside"][number]
        check.close(came, want, rtol=1e-10, atol=1e-12, name=name)
with check.hidden_case(
    "other limits, another order of messages",
    hint="is the plan of Task 2 used, with the limit that was given?",
):
    expect_several("plain", 1400)
    for limit in (0, 1400, 10**6):
        log = alone("plain", limit)["log"]
        wanted = expected_log(log, learning_bytes("plain"), limit)
        compare_logs(log, wanted, f"gradients and messages, limit {limit}")
with check.hidden_case(
    "buckets that waited for their turn leave with it",
    hint="a single gradient may make several buckets due, of which each waited "
    "for the one before",
):
    expect_several("crossed", 0)
    log = alone("crossed", 0)["log"]
    wanted = expected_log(log, learning_bytes("crossed"), 0)
    compare_logs(log, wanted, "gradients and messages, limit 0")
with check.hidden_case(
    "a full bucket waits for its turn",
    hint="in which order do buckets start, on every rank? which are left "
    "for finish, the last one too?",
):
    expect_several("branches", 0)
    log = alone("branches", 0)["log"]
    wanted = expected_log(log, learning_bytes("branches"), 0)
    compare_logs(log, wanted, "messages of rank 0")
with check.hidden_case(
    "three ranks, on each of which a branch is unused",
    hint="buckets in the same order on all ranks; what has no gradient counts "
    "as zeros (pack)",
):
    compare_sums("branches", 3, 0)
    compare_sums("branches", 3, 800)
with check.hidden_case(
    "a gradient from a pass before is sent",
    hint="what has no gradient in the last pass may have one in grad",
):
    compare_sums("turns", 3, 800, (False, True))
with check.hidden_case(
    "a step after one with missing gradients",
    hint="finish forgets what it has started, too",
):
    compare_sums("branches", 3, 10**6, (True,), 3)
    found = alone("branches", 800, (True,), 2)
    wanted = expected_log(found["log"], learning_bytes("branches"), 800)
    compare_logs(found["log"], wanted, "gradients and messages, second step")
with check.hidden_case(
    "a float32 model: four bytes a number",
    hint="p.nbytes, or p.numel() * p.element_size()",
):
    log = alone("plain", 1400, (True,), 1, False, torch.float32)["log"]
    sizes = [size // 2 for size in learning_bytes("plain")]
    compare_logs(log, expected_log(log, sizes, 1400), "gradients and messages")
### END HIDDEN TESTS
check.score(4)

# %% [markdown]
# ## The same step on all ranks
#
# ### Task 4. An epoch on P ranks (3 points)
#
# In a step, rank $r$ has $n_r$ images, and the loss is to be the mean over *all* of them:
#
# $$L = \frac{1}{n}\sum_r \sum_{i \in r} \ell_i, \qquad n = \sum_r n_r .$$
#
# DDP adds up gradients. So each rank's part of the loss is the *sum* of its images' losses, divided by the $n$ of all ranks,
# which `wire.total` finds.
#
# *Gradient accumulation*: if a rank's memory holds only a small batch,
# it runs several backward passes and sends once.

# %% [markdown]
# `train_epoch(ddp, optimizer, x, y, pieces, accumulate)`
# gets this rank's `pieces`, a list of index arrays that are not empty, each a batch that fits into memory; the indices are in no order.
# `pieces` stays as it was. An index that occurs twice counts twice.
# Ranks may have different numbers of pieces, of different lengths.
# `ddp.model` is the network, `ddp.wire` the wire; $\ell_i$ is the cross-entropy,
# `nn.functional.cross_entropy(..., reduction="sum")` for a piece.

# %% [markdown]
# * A step uses the rank's next `accumulate` pieces; its last step may have fewer.
# * The gradient is that of $L$ over all images that all ranks use in this step. Then the optimiser takes its step. What `grad` held before the step does not count.
# * `ddp.sync` is true during the last backward pass of a step, and false during the others; `ddp.finish` is called once a step.
# * A rank that has run out of pieces takes part in a step with one empty batch, `x[[]]` and `y[[]]`:
#   a sum over nothing, with a gradient of zeros. The epoch ends for all when no rank has pieces left.

# %% [markdown]
# It returns this rank's part of $L$ in each step: numbers, in a list or a tuple (no array).
# If rank 0 has 3 images and rank 1 has one, every image counts a quarter. About 15 lines.


# %% nbgrader={"grade_id": "train-epoch", "solution": true}
def train_epoch(
    ddp, optimizer, x, y, pieces, accumulate: int = 1
) -> list[float]:
    """Train in step with all other ranks; return this rank's losses."""
    ### BEGIN SOLUTION
    parts = []
    while True:
        begin = len(parts) * accumulate
        group = pieces[begin : begin + accumulate] or [[]]
        n = ddp.wire.total(sum(len(piece) for piece in group))
        if n == 0:
            return parts
        optimizer.zero_grad()
        parts.append(0.0)
        for number, piece in enumerate(group, start=1):
            ddp.sync = number == len(group)
            logits = ddp.model(x[piece])
            loss = (
                nn.functional.cross_entropy(logits, y[piece], reduction="sum")
                / n
            )
            loss.backward()
            parts[-1] += loss.item()
        ddp.finish()
        optimizer.step()
    ### END SOLUTION


# %% [markdown]
# The check uses the given `OneByOne`, so this task can be solved before the one above.


# %% folded=true nbgrader={"grade_id": "epoch-on-ranks", "locked": true}
def epoch_on_ranks(
    rank,
    world_size,
    kind,
    dtype,
    x,
    y,
    pieces,
    accumulate=1,
    epochs=1,
    old=None,
):
    """Return this rank's parts of the losses, and the last parameters.

    old: a number in all gradients of the model at the beginning.
    """
    model = network(kind, seed=3, dtype=getattr(torch, dtype))
    for p in model.parameters() if old else ():
        p.grad = torch.full_like(p, old)
    ddp = OneByOne(model, Wire())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.as_tensor(x).to(getattr(torch, dtype)), torch.as_tensor(y)
    parts = []
    for _ in range(epochs):
        parts += train_epoch(ddp, optimizer, x, y, pieces[rank], accumulate)
    return parts, [p.detach().numpy() for p in model.parameters()]


def epochs_on_ranks(rank, world_size, cases):
    """Return what epoch_on_ranks returns, for each case."""
    return [epoch_on_ranks(rank, world_size, *case) for case in cases]


class Crowded(Wire):
    """A wire on which another rank has as many images, and does nothing."""

    def total(self, number):
        """Return the number and the other rank's."""
        return 2 * super().total(number)


class Noting(OneByOne):
    """Notes the images and sync of each pass, and each finish."""

    def __init__(self, model, wire) -> None:
        self.images, self.notes = [], []
        super().__init__(model, wire)
        model.register_forward_pre_hook(
            lambda _, given: self.images.append(len(given[0]))
        )
        last = list(model.parameters())[-1]
        last.register_post_accumulate_grad_hook(
            lambda _: self.notes.append(self.sync)
        )

    def finish(self) -> None:
        """Note the call, then wait for all sums."""
        self.notes.append("finish")
        super().finish()


def noted_epoch(x, y, pieces, accumulate, crowded=False, sync=True):
    """Return what Noting notes in an epoch of one rank, and the losses.

    sync: what it is before.
    """
    noting = Noting(network(), Crowded() if crowded else Wire())
    noting.sync = sync
    optimizer = torch.optim.SGD(noting.model.parameters(), lr=0.1)
    parts = train_epoch(
        noting,
        optimizer,
        torch.as_tensor(x),
        torch.as_tensor(y),
        pieces,
        accumulate,
    )
    return noting.images, noting.notes, parts


# %% [markdown]
# Now all four tasks together: two epochs with your `shard`, `DDP` and `train_epoch`.
# On one rank with batches of 48 that is the serial twin;
# the others share the same 48 images a step.


# %% explore=true
def fit_ranks(rank, world_size, batch, kind="plain", dtype=torch.float64):
    """Return parts of the losses, and the parameters after two epochs."""
    model = network(kind, dtype=dtype)
    ddp = DDP(model, Wire(), limit=2100)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    found = []
    for epoch in range(2):
        mine = shard(np.arange(len(y_train)), rank, world_size, epoch)
        pieces = [mine[k : k + batch] for k in range(0, len(mine), batch)]
        found += train_epoch(ddp, optimizer, x_train.to(dtype), y_train, pieces)
    return found, [p.detach() for p in model.parameters()]


def fit_both(rank, world_size, batch):
    """Return what fit_ranks returns in float64 and in float32."""
    return [
        fit_ranks(rank, world_size, batch, "plain", t)
        for t in (torch.float64, torch.float32)
    ]


def furthest(mine, theirs):
    """Return the largest difference between two lists of tensors."""
    return max(
        (a - b).abs().max().item() for a, b in zip(mine, theirs, strict=True)
    )


# %% explore=true
print("largest difference of any weight from the serial twin's, after 46 steps")
print(f"{'ranks':>5} {'batch of each':>14} {'float64':>9} {'float32':>9}")
serial = fit_both(0, 1, 48)
for P in (2, 3, 4):
    ranked = launch(fit_both, P, 48 // P, backend="gloo")
    off = [furthest(ranked[0][k][1], serial[k][1]) for k in (0, 1)]
    print(f"{P:5} {48 // P:14} {off[0]:9.0e} {off[1]:9.0e}")
curves_of = {"the loss": serial[0][0]}
for k, name in ((1, "difference, float32"), (0, "difference, float64")):
    summed = np.sum([both[k][0] for both in ranked], axis=0)
    curves_of[name] = np.abs(summed - serial[k][0])
    curves_of[name][curves_of[name] == 0] = np.nan  # equal
ax = plot.curves(
    curves_of,
    xlabel="step",
    ylabel="loss, and difference",
    title="The serial twin's loss, and how far four ranks are from it",
    logy=True,
)
for line in ax.lines[1:]:
    line.set(linestyle="none", marker=".")
_ = ax.legend(loc=(0.64, 0.15), frameon=False)

# %% [markdown]
# Seven digits of the loss agree in float32, some fifteen in float64 (no dot: all of them). One rounding costs
# $10^{-16}$ of a number in float64, $6 \cdot 10^{-8}$ in float32,
# and what is left is of that size: $P$ partial sums round differently from one long sum.
# A mistake in the mathematics would show in both columns alike.

# %% nbgrader={"grade_id": "train-epoch-check", "grade": true, "points": 3}
from functools import cache

import numpy as np
import torch
from torch import nn

from labkit import check, launch

draw = np.random.default_rng(4)
IMAGES, LABELS = draw.normal(size=(60, 64)), draw.integers(0, 10, 60)


def cut(first, *lengths):
    """Return index arrays of these lengths, in any order as from `shard`."""
    order = first + np.random.default_rng(first).permutation(sum(lengths))
    return np.split(order, np.cumsum(lengths)[:-1])


CASES = {
    "even": ("plain", "float64", [cut(0, 5, 5, 5), cut(30, 5, 5, 5)], 1, 2),
    "uneven": ("plain", "float64", [cut(0, 9, 7), cut(30, 2, 1)], 1, 2),
    "early": ("plain", "float64", [cut(0, 4, 4, 4, 4), cut(30, 4, 2)], 1, 2),
    "accumulate": (
        "plain",
        "float64",
        [cut(0, 4, 4, 4, 4), cut(30, 4, 4, 4, 4)],
        2,
        2,
    ),
    "accumulate, ends early": (
        "plain",
        "float64",
        [cut(0, 3, 5, 2, 1, 6), cut(30, 4, 2)],
        3,
        2,
    ),
    "nothing": ("plain", "float64", [[], cut(0, 6, 3), cut(30, 5)], 1, 1),
    "no pieces": ("plain", "float64", [[], [], []], 1, 1),
    "tied": (
        "tied",
        "float64",
        [cut(0, 8, 3), cut(30, 2), cut(40, 7, 7)],
        1,
        1,
    ),
    "frozen": ("frozen", "float64", [cut(0, 8, 3, 2), cut(30, 2, 9)], 2, 2),
    "float32": ("plain", "float32", [cut(0, 9, 7, 3), cut(30, 2)], 1, 2),
    "alone": ("plain", "float64", [cut(0, 8, 8, 4)], 2, 2),
    "twice": (
        "plain",
        "float64",
        [[np.array([7, 3, 7, 7]), np.array([3, 1])]],
        1,
        1,
    ),
}


class Scaled(nn.Module):
    """The notebook's Scale, of the test's own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(16))

    def forward(self, x):
        return x * self.scale


@cache
def expected(name):
    """Return the serial twin's losses and parameters."""
    kind, dtype, pieces, accumulate, epochs = CASES[name]
    torch.manual_seed(3)
    first, middle, last = (
        nn.Linear(64, 16),
        nn.Linear(16, 16),
        nn.Linear(16, 10),
    )
    again = middle if kind == "tied" else nn.Linear(16, 16)
    first.requires_grad_(kind != "frozen")
    net = nn.Sequential(
        first, nn.ReLU(), middle, nn.ReLU(), again, Scaled(), last
    )
    net = net.to(getattr(torch, dtype))
    sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    x, y = (
        torch.as_tensor(IMAGES).to(getattr(torch, dtype)),
        torch.as_tensor(LABELS),
    )
    losses = []
    for _ in range(epochs):
        for step in range(-(-max(map(len, pieces)) // accumulate)):
            some = slice(step * accumulate, (step + 1) * accumulate)
            chosen = np.concatenate([p for own in pieces for p in own[some]])
            sgd.zero_grad()
            loss = nn.functional.cross_entropy(net(x[chosen]), y[chosen])
            loss.backward()
            sgd.step()
            losses.append(loss.item())
    return losses, [p.detach().numpy() for p in net.parameters()]


# What is launched together: a case that hangs or fails takes only its own group
# with it.
LAUNCHES = [
    ["even", "uneven"],
    ["accumulate"],
    ["early"],
    ["accumulate, ends early", "frozen", "float32"],
    ["nothing", "no pieces", "tied"],
]


@cache
def run_group(place):
    """Launch a group once; return what each rank returns, or the error."""
    cases = []
    for kind, dtype, pieces, *more in (CASES[name] for name in LAUNCHES[place]):
        cases.append((kind, dtype, IMAGES, LABELS, pieces, *more))
    try:
        options = {"timeout_s": 4, "backend": "gloo"}
        return launch(epochs_on_ranks, len(cases[0][4]), cases, **options), None
    except Exception as error:
        return None, error


def said(error):
    """Return what launch says of the ranks, as far as it is a cause."""
    lines = str(error).split("\n\n")[0].splitlines()
    lines = [line.removeprefix("hint:").strip() for line in lines]
    idle = "a consequence", "timeout_s"
    return ";\n".join(
        line for line in lines if not any(words in line for words in idle)
    )


def ranks_of(name):
    """Return what each rank returned; show an error without traceback."""
    if len(CASES[name][2]) == 1:
        kind, dtype, pieces, *more = CASES[name]
        return [
            epoch_on_ranks(0, 1, kind, dtype, IMAGES, LABELS, pieces, *more)
        ]
    place = next(k for k, group in enumerate(LAUNCHES) if name in group)
    found, error = run_group(place)
    if isinstance(error, NotImplementedError):
        raise error
    if error is not None:
        hint = (
            "does every rank take every step? "
            "launch(epochs_on_ranks, ...) says more"
        )
        raise check.Mismatch(said(error), hint)
    return [rank[LAUNCHES[place].index(name)] for rank in found]


def compare_weights(name, rtol=1e-10, atol=1e-12):
    """Compare parameters with the serial twin's, but for rounding."""
    _, weights = expected(name)
    for rank, (_, found) in enumerate(ranks_of(name)):
        for number, want in enumerate(weights):
            title = f"rank {rank}, parameter {number}"
            check.close(found[number], want, rtol=rtol, atol=atol, name=title)


def compare_losses(name):
    """Expect a number per step and rank, together the twin's loss."""
    losses, total = expected(name)[0], 0.0
    for rank, (reported, _) in enumerate(ranks_of(name)):
        parts = list(reported)
        check.equal(
            len(parts), len(losses), name=f"number of steps of rank {rank}"
        )
        for step, (part, _) in enumerate(zip(parts, losses, strict=True)):
            number = isinstance(
                part, int | float | np.number
            ) and not isinstance(part, bool)
            words = f"a number in step {step} of rank {rank}"
            check.true(
                number,
                words if number else f"{words}, got {type(part).__name__}",
            )
        total = total + np.array(parts, float)
    check.close(total, losses, rtol=1e-10, name="parts of all ranks, added up")


with check.case(
    "equal pieces: the serial twin's weights",
    hint="was a step made at all? with which piece does it begin, and with "
    "which does it end? sums over which images, divided by what?",
    essential=True,
):
    compare_weights("even")
with check.case(
    "pieces of different lengths: every image counts the same",
    hint="which number of images stands under the sum: this rank's, or that of "
    "all ranks?",
    essential=True,
):
    compare_weights("uneven")
with check.case(
    "a rank that runs out goes on with an empty batch",
    hint="until no rank has pieces left: wire.total tells; then no further "
    "step is taken",
):
    compare_weights("early")
with check.case(
    "two passes, one step",
    hint="when does something leave? and n counts the images of all passes",
):
    compare_weights("accumulate")
with check.case(
    "a pass for each piece; sync in the last; one finish a step",
    hint="each piece is a batch that fits into memory; what is sent waits for "
    "the last of a step",
):
    images, notes, _ = noted_epoch(IMAGES, LABELS, cut(0, 4, 3, 2, 5, 1), 2)
    check.equal(list(images), [4, 3, 2, 5, 1], name="images of each pass")
    words = {False: "sync is false", True: "sync is true", "finish": "finish"}
    wanted = ["sync is false", "sync is true", "finish"] * 2 + [
        "sync is true",
        "finish",
    ]
    told = [words.get(note, "sync is no bool") for note in notes]
    check.equal(told, wanted, name="passes and finish")
with check.case(
    "the parts of all ranks add up to the loss",
    hint="append this rank's sum, divided by n, as a number, for each step",
):
    compare_losses("uneven")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "accumulation over a rank's last, shorter steps",
    hint="a step may have fewer pieces, or none; the last of those it has is "
    "the one that sends",
):
    compare_weights("accumulate, ends early")
with check.hidden_case(
    "a rank without a single piece",
    hint="x[[]] is an empty batch; its loss is 0, its gradient too",
):
    compare_weights("nothing")
with check.hidden_case(
    "no rank has a piece",
    hint="then nobody takes a step: ask before each step, the first one, too",
    guard=True,
):
    compare_weights("no pieces")
    compare_losses("no pieces")
with check.hidden_case(
    "three ranks, tied weights", hint="the optimiser steps on every rank"
):
    compare_weights("tied")
with check.hidden_case(
    "frozen weights, with accumulation",
    hint="gradients of a step add up over its passes, and over nothing else",
):
    compare_weights("frozen")
with check.hidden_case(
    "a step's losses, also where a rank has none",
    hint="each pass adds to its step's part; a rank without images adds 0",
):
    compare_losses("accumulate, ends early")
    compare_losses("nothing")
# Float32 keeps seven digits; a dozen steps with momentum may cost three of
# them.
with check.hidden_case(
    "float32, within rounding", hint="compute in the model's own numbers"
):
    compare_weights("float32", rtol=1e-4, atol=1e-5)
with check.hidden_case("a rank alone", hint="the same code, with P = 1"):
    compare_weights("alone")
with check.hidden_case(
    "an image three times in a batch",
    hint="how often does the text let an index count that occurs twice?",
):
    compare_weights("twice")
    compare_losses("twice")
with check.hidden_case(
    "one pass a step: sync is true, whatever it was before",
    hint="the only backward pass of a step is its last one",
):
    _, notes, _ = noted_epoch(IMAGES, LABELS, cut(0, 4, 3), 1, sync=False)
    told = ["finish" if note == "finish" else bool(note) for note in notes]
    check.equal(told, [True, "finish"] * 2, name="sync of each pass, finish")
with check.hidden_case(
    "n is what ddp.wire says",
    hint="ddp.wire knows the other ranks; a wire of your own need not",
):
    pieces = cut(0, 4, 3)
    alone, crowded = (
        noted_epoch(IMAGES, LABELS, pieces[:1], 1, crowded=other)[2]
        for other in (False, True)
    )
    check.close(2 * crowded[0], alone[0], rtol=1e-9, name="twice the part")
with check.hidden_case(
    "pieces, images, labels and earlier losses stay as they were",
    hint="is a piece sorted, a list emptied or kept, or an image written to?",
    weight=0.5,
    guard=True,
):
    given = [np.array([5, 2, 9]), np.array([7, 1])]
    with check.unchanged(pieces=given, x=IMAGES, y=LABELS):
        *_, first = noted_epoch(IMAGES, LABELS, given, 1)
    *_, second = noted_epoch(IMAGES, LABELS, given[:1], 1)
    check.separate(second, first)
with check.hidden_case(
    "gradients of before do not count",
    hint="when are gradients cleared? a step may begin with old ones",
):
    kind, dtype, pieces, *more = CASES["alone"]
    _, found = epoch_on_ranks(
        0, 1, kind, dtype, IMAGES, LABELS, pieces, *more, old=1.0
    )
    for number, want in enumerate(expected("alone")[1]):
        check.close(
            found[number],
            want,
            rtol=1e-10,
            atol=1e-12,
            name=f"parameter {number}",
        )
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Experiment 1. Shards of different size, averaged
#
# PyTorch's `DistributedDataParallel` averages the ranks' gradients.
# Let rank 1 be a slow device that gets 8 images a step where rank 0 gets 40:
# a mean over 40 and a mean over 8, averaged.
# And let rank 1 run out early; `join` lets PyTorch's DDP go on with zeros from it.


# %% explore=true
def with_pytorch(rank, world_size, plan):
    """Train with PyTorch's DDP on this rank's pieces; return the parameters."""
    model = network()
    theirs = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with theirs.join():
        for piece in plan[rank]:
            optimizer.zero_grad()
            nn.functional.cross_entropy(
                theirs(x_train[piece].double()), y_train[piece]
            ).backward()
            optimizer.step()
    return [p.detach() for p in model.parameters()]


def with_yours(rank, world_size, plan):
    """Train with your DDP on the same pieces."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train_epoch(
        DDP(model, Wire()), optimizer, x_train.double(), y_train, plan[rank]
    )
    return [p.detach() for p in model.parameters()]


# %% explore=true
def dealt(*lengths, steps=(20, 20)):
    """Return pieces of these lengths for each rank, out of one order."""
    order, plan = shard(np.arange(len(y_train)), 0, 1, 0), [[] for _ in lengths]
    for step in range(max(steps)):
        at = step * sum(lengths)
        for r, n in enumerate(lengths):
            if step < steps[r]:
                plan[r].append(order[at : at + n])
            at += n
    return plan


# %% explore=true
plans = {
    "24 + 24": dealt(24, 24),
    "40 + 8": dealt(40, 8),
    "24 + 24, rank 1 ends early": dealt(24, 24, steps=(20, 12)),
}
print(f"{'furthest from the serial twin':30} {'yours':>8} {'PyTorch':>8}")
for title, plan in plans.items():
    together = [
        np.concatenate([p[k] for p in plan if k < len(p)]) for k in range(20)
    ]
    serial_weights = with_yours(0, 1, [together])
    found = [
        launch(f, 2, plan, backend="gloo")[0]
        for f in (with_yours, with_pytorch)
    ]
    off = [furthest(weights, serial_weights) for weights in found]
    print(f"{title:30} {off[0]:8.0e} {off[1]:8.0e}")

# %% [markdown]
# With equal batches both are the serial twin, up to rounding.
# With 40 and 8 images an image of rank 1 counts five times as much as one of rank 0:
# PyTorch's weights are another model's.
# When rank 1 has ended, rank 0's mean is still divided by two: its steps are half as long.
# Nothing fails: PyTorch leaves the weighting to you. It is the division by $n$ in your `train_epoch`.
#
# Yours has a limit too: batch normalisation uses the statistics of each rank's part of the batch,
# so it has no serial twin (`SyncBatchNorm` adds them up as well).

# %% [markdown]
# ## Is it worth it?
#
# ### Task 5. Efficiency (1 point)
#
# *Strong scaling* keeps the images of a step and divides them among more devices;
# *weak scaling* keeps the images of each device, so a step holds more.
# Both compare throughput, images a second, with what $P$ times as many devices should give.
#
# `efficiency(devices, images, seconds)` takes three sequences of equal length, one entry a measurement:
# the number of devices, the images of a step on all of them together, and the seconds of a step.
# It returns for each entry the images a second and device, divided by those of the *first* entry.
# The three sequences stay as they were.
#
# 1 device with 100 images in 1 s and 2 devices with 100 images in 0.625 s have efficiencies `[1.0, 0.8]`. About 2 lines.


# %% nbgrader={"grade_id": "efficiency", "solution": true}
def efficiency(devices, images, seconds) -> list[float]:
    """Return throughput for each device, relative to the first entry's."""
    ### BEGIN SOLUTION
    each = (
        np.asarray(images, float)
        / np.asarray(seconds, float)
        / np.asarray(devices, float)
    )
    return (each / each[0]).tolist()
    ### END SOLUTION


# %% explore=true
print(
    "16 devices, 14.56 times the throughput: "
    f"{efficiency([1, 16], [1, 14.56], [1, 1])[1]:.0%}"
)
print(
    "16 devices, the batch in 0.0859 s, not 1 s: "
    f"{efficiency([1, 16], [9, 9], [1, 0.0859])[1]:.0%}"
)

# %% [markdown]
# The first line is source C's: 16 GPUs of one machine reach 91 % of 16 times one GPU's images a second.
# The second, with seconds made up for this example, is strong scaling, where a sixteenth of a second would be 100 %.
# The formula does not ask which of the two was run. The reader must:
# twice the images a step is another training (Experiment 3), and images a second are not accuracy.

# %% nbgrader={"grade_id": "efficiency-check", "grade": true, "points": 1}
import numpy as np

from labkit import check

with check.case(
    "the worked example",
    hint="images a second and device of each entry, beside the first one's",
):
    found = np.asarray(efficiency([1, 2], [100, 100], [1.0, 0.625]))
    check.close(found, [1.0, 0.8], name="efficiency")
with check.case(
    "weak scaling: the images grow",
    hint="throughput counts the images of all devices",
):
    found = np.asarray(efficiency([1, 4, 8], [64, 256, 512], [0.5, 0.5, 0.625]))
    check.close(found, [1.0, 1.0, 0.8], name="efficiency")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "the first entry may have several devices",
    hint="the first entry has a number of devices, too",
    essential=True,
):
    found = np.asarray(
        efficiency([8, 16, 32], [800, 800, 800], [2.0, 1.25, 1.0])
    )
    check.close(found, [1.0, 0.8, 0.5], name="efficiency")
with check.hidden_case(
    "many devices, and shares that are no round numbers",
    hint="nothing is rounded: numbers go in and come out as they are",
):
    found = np.asarray(
        efficiency([1.0, 4099.0], [20001.0, 20001.0 * 4099], [2.0, 6.0])
    )
    check.close(found, [1.0, 1 / 3], name="efficiency")
    found = np.asarray(efficiency([1.0, 3.0], [20001.0, 40007.0], [2.0, 2.0]))
    check.close(found, [1.0, 40007 / 60003], name="efficiency")
with check.hidden_case(
    "more than 100 % is reported as it is",
    hint="caches can do that: do not cut it off at 1",
):
    found = np.asarray(efficiency([1, 2], [100, 100], [1.0, 0.4]))
    check.close(found, [1.0, 1.25], name="efficiency")
with check.hidden_case(
    "arrays, in any order, the same devices measured twice",
    hint="the first entry is the reference, not the one with the fewest",
    more="an entry for each measurement, also for one that looks like another",
):
    given = [4, 1, 4], [400, 100, 400], [2.0, 1.0, 4.0]
    found = np.asarray(efficiency(*map(np.array, given)))
    check.close(found, [1.0, 2.0, 0.5], name="efficiency")
with check.hidden_case(
    "the sequences stay as they were, and so does an earlier result",
    hint="an operator with = at its end writes into the caller's array",
    guard=True,
):
    given = {
        "devices": [1.0, 2.0],
        "images": [100.0, 100.0],
        "seconds": [1.0, 0.625],
    }
    given = {name: np.array(numbers) for name, numbers in given.items()}
    with check.unchanged(**given):
        first = efficiency(*given.values())
    check.separate(efficiency([1, 2], [8, 8], [2, 1]), first)
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Predict, then measure (1 point)
#
# Commit to four numbers before you run the experiments below; the point is for writing them down.
#
# * `"two ranks"`: the throughput of two ranks on this machine, over that of one, for the same batch of 512 images.
# * Three validation accuracies of a network of four layers that starts from weights 1.8 times as large as He et al. advise (standard deviation $\sqrt{2/n_{in}}$).
#   With batches of 32 and a rate of 0.05 it reaches about 96 % in 20 epochs. Now with batches of 256 and
#   * `"fixed rate"`: rate 0.05;
#   * `"linear rule"`: rate 0.4;
#   * `"warm-up"`: a rate that grows from 0.05 to 0.4 in the first quarter of the steps.
#
# `predictions()` returns a dictionary with these four keys, the same in each call: a ratio above 0, and accuracies between 0 and 1. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return the ratio and the three accuracies that I expect."""
    ### BEGIN SOLUTION
    return {
        "two ranks": 1.5,
        "fixed rate": 0.85,
        "linear rule": 0.9,
        "warm-up": 0.95,
    }
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "four predictions",
    hint="return a dictionary with exactly the four keys of the text",
):
    check.equal(
        sorted(predictions()),
        ["fixed rate", "linear rule", "two ranks", "warm-up"],
    )
with check.case(
    "accuracies lie between 0 and 1", hint="0.25 means a quarter of the images"
):
    for name in ("fixed rate", "linear rule", "warm-up"):
        check.at_least(predictions()[name], 0.0, name=name)
        check.at_most(predictions()[name], 1.0, name=name)
with check.case(
    "the ratio is above 0", hint="2 means twice as many images a second"
):
    check.at_least(predictions()["two ranks"], 1e-9, name="two ranks")
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions())
check.score(1)

# %% [markdown]
# ### Experiment 2. Strong and weak scaling
#
# First measured: one, two and four ranks on this machine, with your DDP and a network of about a million weights.
# Images are random here; only time is looked at.


# %% folded=true nbgrader={"grade_id": "scaling", "locked": true}
def wide_network(where: str = "cpu"):
    """Return a network of six layers and about a million weights."""
    torch.manual_seed(0)
    layers = [
        part
        for k in (64, *[512] * 4)
        for part in (nn.Linear(k, 512), nn.ReLU())
    ]
    return nn.Sequential(*layers, nn.Linear(512, 10)).to(where)


def step_seconds(rank, world_size, images, where="cpu", repeat=9):
    """Return the seconds of some training steps on `images` images a rank."""
    model = wide_network(where)
    x = torch.rand(images, 64, device=where)
    y = torch.zeros(images, dtype=torch.long, device=where)
    return timed_steps(DDP(model, Wire(where), 2**20), x, y, repeat)


def timed_steps(ddp, x, y, repeat):
    """Return the seconds of some training steps, after two more."""
    seconds, pieces, where = [], [np.arange(len(x))], x.device.type
    optimizer = torch.optim.SGD(ddp.model.parameters(), lr=0.01)
    for _ in range(repeat + 2):
        ddp.wire.total(0)  # all ranks begin together
        start = time.perf_counter()
        train_epoch(ddp, optimizer, x, y, pieces)
        if where == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return seconds[2:]


def strong_and_weak(rank, world_size):
    """Time steps on 512 images of all ranks, then on 256 of each."""
    return [
        step_seconds(rank, world_size, n, repeat=7)
        for n in (512 // world_size, 256)
    ]


def sum_seconds(rank, world_size, bytes_of_messages, repeat=25):
    """Return the seconds of the fastest all-reduce of each size."""
    found = []
    for held in bytes_of_messages:
        row, samples = torch.zeros(held // 4), []
        for _ in range(repeat):
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(row)
            samples.append(time.perf_counter() - start)
        found.append(min(samples))
    return found


def fit_alpha_beta(m, seconds, world_size: int) -> tuple[float, float]:
    """Return seconds per message and per byte, by least relative errors."""
    m, seconds = np.asarray(m, float), np.asarray(seconds, float)
    share = 2 * (world_size - 1)
    terms = np.stack(
        [np.full(len(m), float(share)), share / world_size * m], axis=1
    )
    alpha, beta = np.linalg.lstsq(
        terms / seconds[:, None], np.ones(len(m)), rcond=None
    )[0]
    return max(float(alpha), 0.0), max(float(beta), 0.0)


# %% explore=true
fastest = {P: [math.inf, math.inf] for P in (1, 2, 4)}
for P in (1, 2, 4) * 2:  # in turns: what else runs meets all of them
    both = launch(strong_and_weak, P, backend="gloo")[0]
    fastest[P] = [min(f, *s) for f, s in zip(fastest[P], both, strict=True)]
per_step = {
    "strong, 512 images a step": [512] * 3,
    "weak, 256 images a rank": [256, 512, 1024],
}
print("the fastest steps here     ranks  ms a step  images/s  efficiency")
for row, (title, images) in enumerate(per_step.items()):
    seconds = [both[row] for both in fastest.values()]
    shares = efficiency(list(fastest), images, seconds)
    for P, n, s, share in zip(fastest, images, seconds, shares, strict=True):
        print(f"{title:26} {P:5} {s * 1e3:10.1f} {n / s:9.0f} {share:11.0%}")
gain = fastest[1][0] / fastest[2][0]
print(
    f"throughput of two ranks over one's: {gain:.2f}, you predicted "
    f"{predictions()['two ranks']:g}"
)

# %% [markdown]
# Your numbers depend on what else runs: ranks share the cores here, and every all-reduce waits for the rank that runs last.
# More than twice the throughput from two ranks would mean that even the fastest step of one was disturbed: run the cell again.
# They say nothing about 16 devices with a processor each, so from here on we model.
#
# Each rank has a core of its own, and a ring all-reduce of $m$ bytes takes
#
# $$2(P-1)\,\alpha + 2\,\tfrac{P-1}{P}\,m\,\beta ,$$
#
# with $\alpha$ and $\beta$ fitted to all-reduces of two ranks here.
# Buckets leave one after the other, when backward has computed their share of the bytes;
# the step ends when both backward and the last message have.

# %% nbgrader={"grade_id": "model-of-a-step", "locked": true}


def modelled_step(compute_s, sizes, limit, world_size, alpha, beta) -> float:
    """Return the seconds of a step; forward is a third of compute_s."""
    ready = free = compute_s / 3
    for bucket in buckets(sizes, limit):
        m = sum(sizes[number] for number in bucket)
        ready += compute_s * 2 / 3 * m / sum(sizes)
        message = 2 * (world_size - 1) * (alpha + m / world_size * beta)
        free = max(free, ready) + message * (world_size > 1)
    return max(ready, free)


# %% explore=true
held = [1 << k for k in range(10, 24, 2)]
took = launch(sum_seconds, 2, held, backend="gloo")[0]
alpha, beta = fit_alpha_beta(held, took, 2)
line = 2 * alpha + np.array(held) * beta
ax = plot.curves(
    {
        "measured": (np.array(held) / 1024, np.array(took) * 1e3),
        "fitted": (np.array(held) / 1024, line * 1e3),
    },
    xlabel="KiB",
    ylabel="ms",
    title="An all-reduce of two ranks on this machine",
    logx=True,
    logy=True,
)
thin = {"color": "grey", "linestyle": ":", "linewidth": 1}
ax.axhline(2e3 * alpha, **thin)
lowest, _ = ax.get_ylim()
ax.plot(np.array(held) / 1024, np.array(held) * beta * 1e3, **thin)
ax.set_ylim(bottom=lowest)
print(
    f"alpha {alpha * 1e6:.0f} µs a message, 1 / beta {1e-9 / beta:.2f} GB a "
    "second"
)

# %% [markdown]
# The left part costs $2\alpha$ whatever the size, for a ring of two ranks sends two messages, one after the other;
# the right part is paid by the byte. The dotted lines are the two by themselves.
# (Single sizes may lie off, if something else ran at that moment.)
# Now the model, and *your* function applied to its seconds.

# %% explore=true
sizes_wide = [p.nbytes for p in wide_network().parameters()]
one_s = {
    n: min(step_seconds(0, 1, n, repeat=15)) for n in (8, 32, 64, 128, 256, 512)
}
for n, seconds in one_s.items():
    print(f"{n:3} images: {seconds * 1e3:5.1f} ms a step on one rank")

# %% [markdown]
# ### Does overlap pay?
#
# Before the model looks at 16 ranks, let it look at cases where it can be wrong: the same step in three ways,
# and a fourth that computes only, for its wire sends nothing.
# All four take turns, in a new order each round, so that whatever else runs meets all of them alike.
# What counts is the difference to computing alone in the same round.
#
# There are two wires: gloo between two ranks of this machine, and `Far`, one rank with a wire that only takes time,
# 0.5 ms a message and 4 ns a byte, and nothing from the core. Which order do you expect on each?


# %% explore=true
class Quiet(Wire):
    """Sends nothing."""

    def all_reduce(self, tensor):
        """Return the gradient as it is."""
        return Work(tensor, tensor.detach().clone(), lambda: None)


class Far(Wire):
    """Sends one message after the other, while the core goes on computing."""

    free = 0.0

    def all_reduce(self, tensor):
        """Return the gradient as it is, but late."""
        begin = max(self.free, time.perf_counter())
        self.free = end = begin + 5e-4 + 4e-9 * tensor.nbytes

        def arrive():
            time.sleep(max(0, end - time.perf_counter()))

        return Work(tensor, tensor.detach().clone(), arrive)


# %% explore=true
def clocked(ddp):
    """Return the same; `in_finish` is how long its last finish took."""
    plain = ddp.finish

    def finish():
        begin = time.perf_counter()
        plain()
        ddp.in_finish = time.perf_counter() - begin

    ddp.finish = finish
    return ddp


WAYS = {
    "computing alone": (DDP, [1_100_000]),
    "one by one": (OneByOne, []),
    "five buckets": (DDP, [1_100_000]),
    "one bucket": (DDP, [2**30]),
}


# %% explore=true
def in_turns(rank, world_size, wire=Wire, rounds=25):
    """Return ms of (a step, finish) on 512 images, per way and round."""
    x, y = torch.rand(512, 64), torch.zeros(512, dtype=torch.long)
    made, found = {}, {way: [] for way in WAYS}
    for way, (kind, limits) in WAYS.items():
        own = Quiet() if way == "computing alone" else wire()
        made[way] = clocked(kind(wide_network(), own, *limits))
        timed_steps(made[way], x, y, repeat=1)  # nothing is new after it
    for number in range(rounds):
        for way in np.random.default_rng(number).permutation(list(made)):
            ddp = made[way]
            sgd = torch.optim.SGD(ddp.model.parameters(), lr=0.01)
            ddp.wire.total(0)  # all ranks begin together
            begin = time.perf_counter()
            train_epoch(ddp, sgd, x, y, [np.arange(512)])
            step = time.perf_counter() - begin
            found[way].append((1e3 * step, 1e3 * ddp.in_finish))
    return {way: np.array(pairs) for way, pairs in found.items()}


# %% explore=true
turns = {
    "gloo": launch(in_turns, 2, backend="gloo", timeout_s=120)[0],
    "Far": in_turns(0, 1, Far),
}
costs_of = {"gloo": (alpha, beta), "Far": (0.25e-3, 4e-9)}
for name, took in turns.items():
    alone = took["computing alone"]
    print(f"{name}; computing alone {min(alone[:, 0]):.1f} ms at its fastest")
    print("  ms more than that  modelled    measured  middle half   in finish")
    for way, (_, limits) in list(WAYS.items())[1:]:
        low, middle, high = np.percentile(took[way] - alone, [25, 50, 75], 0)
        costs = sum(limits), 2, *costs_of[name]
        fastest_s = min(alone[:, 0]) / 1e3
        said = modelled_step(fastest_s, sizes_wide, *costs) - fastest_s
        print(
            f"  {way:18} {said * 1e3:8.1f} {middle[0]:11.1f}  "
            f"{low[0]:5.1f} to {high[0]:4.1f} {middle[1]:9.1f}"
        )

# %% [markdown]
# "Measured" is the median of 25 differences, and beside it is their middle half. Two ways whose halves overlap are not told apart here.
# Where a half is wider than the median is high, or a median is below 0, the machine does other work:
# then look at the last column, the part of a step in which nothing is computed any more, again beyond computing alone.

# %% [markdown]
# `Far` is what the model describes, a wire beside the core. One bucket leaves last and pays for all of its message.
# Smaller ones leave while backward still computes, and only what comes after it is seen.
# A message a parameter leaves even earlier, and pays 0.5 ms for each of twelve.
#
# gloo's threads copy and add on the cores that compute, the ranks share caches, and each step waits for the slower rank:
# what overlaps with backward takes something from it, and the order may be another one. A network card takes little.
#
# (The limit is 1.1 MB, not 1 MiB: there a weight of 512 x 512 fills a bucket by itself, and each bias has its own.)

# %% explore=true
ranks = np.array([1, 2, 4, 8, 16])
cases = {
    "weak, 512 a rank, buckets of 1 MiB": (2**20, [512] * 5),
    "weak, 512 a rank, one bucket": (2**30, [512] * 5),
    "strong, 512 a step, buckets of 1 MiB": (2**20, [512, 256, 128, 64, 32]),
    "strong, 512 a step, free messages": (2**20, [512, 256, 128, 64, 32]),
}
modelled = {}
for title, (limit, each) in cases.items():
    costs = (0, 0) if "free" in title else (alpha, beta)
    step_s = [
        modelled_step(one_s[n], sizes_wide, limit, int(P), *costs)
        for n, P in zip(each, ranks, strict=True)
    ]
    modelled[title] = (ranks, efficiency(ranks, ranks * np.array(each), step_s))
top = 1.08 * max(max(shares) for _, shares in modelled.values())
for ax, kind in zip(plot.panels(2), ("weak", "strong"), strict=True):
    drawn = {t.split(", ")[2]: modelled[t] for t in cases if kind in t}
    title = f"Modelled: {kind} scaling"
    plot.curves(drawn, xlabel="ranks", title=title, logx=True, ax=ax)
    if kind == "strong":  # the same colour as on the left, or a third one
        ax.lines[1].set_color(plot.PALETTE[2])
        ax.legend(frameon=False, loc="best")
    ax.set(ylim=(0, top), ylabel="efficiency" if kind == "weak" else "")
    ax.axhline(1, color="grey", linestyle=":", linewidth=1)
    ax.set_xticks(ranks, ranks)
    ax.minorticks_off()
print("modelled efficiency at 16 ranks; the talk reports 91 % for 16 GPUs")
for title, (_, shares) in modelled.items():
    print(f"{title:38} {shares[-1]:.0%}")

# %% [markdown]
# With weak scaling each rank computes as long as before, and the bytes it sends grow from $m$ towards $2m$ only.
# If one bucket beats those of 1 MiB here, a further message costs more ($30\,\alpha$) than it hides.
#
# With strong scaling at 16 ranks each has a sixteenth of the images and sends as much.
# Take the last two lines: what free messages lack to 100 % is work that does not shrink, for every rank still updates all weights;
# from there to the line above it, it is messages.
# (More than 100 % is possible: 128 or 256 images may fit into a cache where 512 do not.)
# Which curve would you show in a talk?

# %% [markdown]
# How many bytes should share a message? The next figure draws what a step takes longer than its 40 ms of computing, against the limit,
# also for a network with 20 µs and 1 GB a second.

# %% explore=true
limits = [65536 * layers for layers in (1, 2, 3, 6, 11, 22, 33, 66)]
sixty_six = [64 * 1024] * 66
choices = {}
for title, costs in {
    "this machine": (alpha, beta),
    "20 µs, 1 GB/s": (20e-6, 1e-9),
}.items():
    found = [
        modelled_step(0.04, sixty_six, k, 16, *costs) - 0.04 for k in limits
    ]
    choices[title] = (np.array(limits) / 65536, np.array(found) * 1e3)
    best = limits[int(np.argmin(found))] // 1024
    said = f"{best} KiB" if best < 4224 else "one bucket for all 4224 KiB"
    print(f"{title}: best with {said}, {min(found) * 1e3:.1f} ms are left")
ax = plot.curves(
    choices,
    xlabel="limit of a bucket, layers of 64 KiB",
    ylabel="ms beyond computing",
    title="Modelled: 16 ranks, 66 layers, 40 ms of computing",
    logx=True,
    logy=True,
)
ticks = [1, 2, 3, 6, 11, 22, 33, 66]
ax.set_xticks(ticks, ticks)
ax.minorticks_off()


# %% folded=true nbgrader={"grade_id": "draw-steps", "locked": true}
def messages(limit, compute_s, alpha, beta, ranks=16):
    """Return (begin, length) of each message, in ms, as in modelled_step."""
    ready, free, sent = compute_s / 3, 0.0, []
    for bucket in buckets([64 * 1024] * 66, limit):
        ready += compute_s * 2 / 3 * len(bucket) / 66
        m = len(bucket) * 64 * 1024
        takes = 2 * (ranks - 1) * (alpha + m / ranks * beta)
        sent.append((1e3 * max(free, ready), 1e3 * takes))
        free = max(free, ready) + takes
    return sent


def draw_steps(ways):
    """Draw computing and messages of a step, for each limit of a bucket."""
    (ax,) = plot.panels(1, stacked=True)
    ax.figure.set_size_inches(7.5, 3)
    for row, limit in enumerate(ways.values()):
        sent, grey = messages(limit, 0.04, 20e-6, 1e-9), ["#c5cdd6", "#8b98a6"]
        ax.broken_barh([(0, 40 / 3), (40 / 3, 80 / 3)], (row, 0.3), color=grey)
        ax.broken_barh(
            sent, (row + 0.33, 0.3), color="#d55e00", edgecolor="white"
        )
        ax.text(sum(sent[-1]) + 0.5, row + 0.45, f"{sum(sent[-1]):.1f} ms")
    for at, name in ((0.5, "forward"), (13.8, "backward")):
        ax.text(at, 0.15, name, va="center", fontsize=10)
    ax.set_yticks(np.arange(3) + 0.3, ways)
    title = "A step: computing in grey, messages in orange"
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.set(xlabel="ms, modelled: 40 ms of computing, 20 µs, 1 GB a second")
    ax.set(xlim=(0, 68), ylim=(2.8, -0.2))
    ax.spines[["top", "right"]].set_visible(False)


# %% explore=true
ways = {"a message a layer": 2**16, "192 KiB": 3 * 2**16, "one bucket": 2**23}
draw_steps(ways)

# %% [markdown]
# On the left every layer pays its own $\alpha$, which shows where a message takes longer than the backward step of a layer;
# on the right one message waits for all gradients, and overlaps with nothing.
# The time lines show both, on the second network, and between them buckets of which all but the end hides behind backward.
# The more a message costs, the further right the lowest step lies.
# So the best limit belongs to a network and a wire, and PyTorch lets you set it.

# %% [markdown]
# ## When a rank dies
#
# ### Task 6. A checkpoint (2 points)
#
# A run that is killed shall go on from its last checkpoint and end with the same weights as one that was not.
# So everything that decides the future must be in it:
# weights and buffers, the optimiser's state with its rates, the place in the data (epoch and step), and torch's random generator.
# Your sampler needs no more: its order follows from the epoch.

# %% [markdown]
# `save_checkpoint(path, model, optimizer, epoch, step)` writes all that to `path`, a `Path`; `step` is the step that comes next.
# A process may die while it writes. So write another file of the same folder first and then put it in the place of the old one
# with `os.replace(new, path)`, which the file system does at once or not at all. The old file is never written to.
# Write in the function's own thread: the check's process may start no other, and no program.
#
# `load_checkpoint(path, model, optimizer)` restores everything and returns `(epoch, step)`.
# If there is no such file, it changes nothing and returns `(0, 0)`. About 10 lines in both;
# `state_dict()` and `load_state_dict(state)` of model and optimiser,
# `torch.save`, `torch.load` (which reads tensors and plain values), `torch.get_rng_state` and `torch.set_rng_state` help.
# (Lab 06 calls computing again *checkpointing*; a checkpoint here is a state that was saved.)


# %% nbgrader={"grade_id": "save-checkpoint", "solution": true}
def save_checkpoint(
    path: Path, model, optimizer, epoch: int, step: int
) -> None:
    """Write the whole state of a training to a file, at once or not at all."""
    ### BEGIN SOLUTION
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    state |= {"epoch": epoch, "step": step, "random": torch.get_rng_state()}
    part = path.with_name(f"{path.name}.new")
    torch.save(state, part)
    part.replace(path)
    ### END SOLUTION


# %% nbgrader={"grade_id": "load-checkpoint", "solution": true}
def load_checkpoint(path: Path, model, optimizer) -> tuple[int, int]:
    """Restore a training; return the epoch and step it goes on with."""
    ### BEGIN SOLUTION
    if not path.exists():
        return 0, 0
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    return state["epoch"], state["step"]
    ### END SOLUTION


# %% [markdown]
# `train_with_dropout`, given, trains for some steps;
# after `stop` of them it saves, throws everything away, and goes on from the file.


# %% nbgrader={"grade_id": "train-with-dropout", "locked": true}
def dropout_model():
    """Return a model with dropout and buffers; SGD with momentum."""
    layers = [
        nn.Linear(64, 16),
        nn.BatchNorm1d(16),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(16, 10),
    ]
    model = nn.Sequential(*layers)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def train_with_dropout(steps, stop, x, y):
    """Return all tensors at the end, and what load_checkpoint returned."""
    torch.manual_seed(0)
    model, optimizer = dropout_model()
    x, y, place = torch.as_tensor(x).float(), torch.as_tensor(y), None
    with tempfile.TemporaryDirectory() as folder:
        for step in range(steps):
            if step == stop:
                save_checkpoint(
                    Path(folder, "checkpoint.pt"), model, optimizer, 7, step
                )
                torch.manual_seed(99)
                model, optimizer = dropout_model()
                place = load_checkpoint(
                    Path(folder, "checkpoint.pt"), model, optimizer
                )
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return [t.numpy() for t in model.state_dict().values()], place


# %% folded=true nbgrader={"grade_id": "checkpoint-helpers", "locked": true}
def save_in(folder, stops, x, y):
    """Train; return the bytes of checkpoints saved before some steps."""
    torch.manual_seed(1)
    model, optimizer = dropout_model()
    x, y, saved = torch.as_tensor(x).float(), torch.as_tensor(y), {}
    path = Path(folder, "checkpoint.pt")
    with mock.patch.object(tempfile, "tempdir", folder):
        for step in range(max(stops) + 1):
            if step in stops:
                save_checkpoint(path, model, optimizer, 7, step)
                saved[step] = path.read_bytes()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return saved


def save_elsewhere(stops, x, y):
    """Return what save_in returns in a process whose folder is gone."""
    with tempfile.TemporaryDirectory() as folder:
        return in_fresh_process(
            save_in, folder, stops, x, y, only_write_in=folder
        )


def resume_elsewhere(data, more, x, y):
    """Load such bytes in a process of its own, and take some more steps.

    Return what load_checkpoint returned, and all tensors before these
    steps and after.
    """
    torch.manual_seed(99)
    model, optimizer = dropout_model()
    x, y = torch.as_tensor(x).float(), torch.as_tensor(y)
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(tempfile, "tempdir", folder),
    ):
        path = Path(folder, "checkpoint.pt")
        path.write_bytes(data)
        place = load_checkpoint(path, model, optimizer)
    found = [[tensor.numpy().copy() for tensor in model.state_dict().values()]]
    for _ in range(more):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    found.append([tensor.numpy() for tensor in model.state_dict().values()])
    return place, *found


def resume_all(files, x, y):
    """Return what resume_elsewhere returns for each pair (data, more)."""
    return [resume_elsewhere(data, more, x, y) for data, more in files]


def interrupted_save(name="checkpoint.pt"):
    """Return (epoch, step) after a failed save, and if weights are right.

    Also returns (epoch, step) of a second name of the old file, after a
    save that succeeded.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, old = Path(folder, name), Path(folder, "second-name")
        (model, optimizer), (other, memory) = dropout_model(), dropout_model()
        save_checkpoint(path, model, optimizer, 3, 4)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (path.stat().st_size // 2, limits[1])
        )
        try:  # as on a disk that is full when half of it is written
            with contextlib.suppress(Exception):
                save_checkpoint(path, *dropout_model(), 5, 6)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        place = load_checkpoint(path, other, memory)
        same = bool((other[0].weight == model[0].weight).all())
        os.link(path, old)
        save_checkpoint(path, model, optimizer, 8, 9)
        return place, same, load_checkpoint(old, other, memory)


def two_files():
    """Save to two files; return what the first, renamed, restores.

    That is (epoch, step), and whether weights, momentum and random state
    are the first save's.
    """
    x, y = x_train[:32], y_train[:32]
    (model, optimizer), (other, memory) = dropout_model(), dropout_model()
    with tempfile.TemporaryDirectory() as folder:
        first, second, moved = (
            Path(folder, name) for name in ("first.pt", "second.pt", "moved")
        )
        for path, place in ((first, (1, 2)), (second, (3, 4))):
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            if path == first:
                weights, random = (
                    model[0].weight.detach().clone(),
                    torch.get_rng_state(),
                )
                momentum = optimizer.state[model[0].weight][
                    "momentum_buffer"
                ].clone()
            save_checkpoint(path, model, optimizer, *place)
        first.rename(moved)
        place = load_checkpoint(moved, other, memory)
    pairs = [(other[0].weight, weights), (torch.get_rng_state(), random)]
    pairs.append(
        (
            memory.state[other[0].weight].get(
                "momentum_buffer", torch.zeros(1)
            ),
            momentum,
        )
    )
    return place, [torch.equal(found, wanted) for found, wanted in pairs]


def killed_before_the_replacement():
    """Return (epoch, step) after a save that ends before os.replace.

    Also returns, for each call of os.replace or os.rename,
    whether the new file lay in the old one's folder.
    """
    beside = []

    def killed(new, old, **_):
        beside.append(Path(new).resolve().parent == Path(old).resolve().parent)
        raise SystemExit("killed")  # no error of a file: another way is no way

    with tempfile.TemporaryDirectory() as folder:
        path, (model, optimizer) = (
            Path(folder, "checkpoint.pt"),
            dropout_model(),
        )
        save_checkpoint(path, model, optimizer, 3, 4)
        with (
            mock.patch("os.replace", killed),
            mock.patch("os.rename", killed),
            contextlib.suppress(SystemExit),
        ):
            save_checkpoint(path, model, optimizer, 5, 6)
        return load_checkpoint(path, *dropout_model()), beside


def another_optimizer():
    """Save and load a training in float64, with Adam and a rate that falls.

    Return whether weights, rate, and weights after two more steps are equal.
    """
    x, y, folder = x_train[:32].double(), y_train[:32], None

    def adam():
        model = dropout_model()[0].double()
        return model, torch.optim.Adam(model.parameters(), lr=0.01)

    def take(model, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        return [tensor.clone() for tensor in model.state_dict().values()]

    (model, optimizer), (other, memory) = adam(), adam()
    take(model, optimizer, 3)
    optimizer.param_groups[0]["lr"] = 0.003
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "adam.pt")
        save_checkpoint(path, model, optimizer, 1, 3)
        ends = [take(model, optimizer, 0), take(model, optimizer, 2)]
        load_checkpoint(path, other, memory)
        rate = memory.param_groups[0]["lr"] == 0.003
        found = [take(other, memory, 0), take(other, memory, 2)]
    same = [
        all(map(torch.equal, mine, theirs))
        for mine, theirs in zip(found, ends, strict=True)
    ]
    return same[0], rate, same[1]


def load_from_nowhere():
    """Load without a file; also return whether all is as it was."""
    model, optimizer = dropout_model()
    before = [tensor.clone() for tensor in model.state_dict().values()]
    before.append(torch.get_rng_state())
    with tempfile.TemporaryDirectory() as folder:
        place = load_checkpoint(Path(folder, "checkpoint.pt"), model, optimizer)
    after = [*model.state_dict().values(), torch.get_rng_state()]
    return place, all(map(torch.equal, before, after))


# %% explore=true
undisturbed, _ = train_with_dropout(12, None, x_train[:64], y_train[:64])
for stop in (1, 6, 11):
    resumed, place = train_with_dropout(12, stop, x_train[:64], y_train[:64])
    equal = all(
        (a == b).all() for a, b in zip(resumed, undisturbed, strict=True)
    )
    print(
        f"stopped after step {stop:2}, went on at {place}: equal bit by bit: "
        f"{equal}"
    )

# %% nbgrader={"grade_id": "checkpoint-check", "grade": true, "points": 2}
from functools import cache

import numpy as np
import torch
from torch import nn

from labkit import check, in_fresh_process

draw = np.random.default_rng(21)
IMAGES, LABELS = draw.normal(size=(24, 64)), draw.integers(0, 10, 24)


@cache
def undisturbed_run(steps, seed):
    """Return all tensors of a training that nobody interrupts."""
    torch.manual_seed(seed)
    layers = [
        nn.Linear(64, 16),
        nn.BatchNorm1d(16),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(16, 10),
    ]
    net = nn.Sequential(*layers)
    sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.as_tensor(IMAGES).float(), torch.as_tensor(LABELS)
    for _ in range(steps):
        sgd.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        sgd.step()
    return {name: tensor.numpy() for name, tensor in net.state_dict().items()}


MORE = {
    0: 1,
    3: 2,
    4: 5,
    6: 6,
}  # saved before this step: loaded, and so many steps taken
# Weights and momenta are 2484 float32 numbers: compressed or not, a file with
# less is not whole.
LEAST = 8000


def expect_state(found, steps, kind, seed=1):
    """Expect tensors of one kind as after some steps, but for rounding."""
    for tensor, (name, want) in zip(
        found, undisturbed_run(steps, seed).items(), strict=True
    ):
        if kind in name:
            check.close(tensor, want, rtol=1e-4, atol=1e-5, name=name)


@cache
def resumed():
    """Return what a process restores from another's bytes, or the error."""
    try:
        saved = save_elsewhere(list(MORE), IMAGES, LABELS)
        files = [(saved[stop], more) for stop, more in MORE.items()]
        found = in_fresh_process(resume_all, files, IMAGES, LABELS)
        few = len(saved[6]) < LEAST
        lost = f"the file has {len(saved[6])} bytes" if few else ""
        return dict(zip(MORE, found, strict=True)), lost
    except Exception as error:
        return None, error


def resumed_at(stop):
    """Return the place, and tensors as loaded and after MORE steps."""
    found, error = resumed()
    hint = (
        "all of it goes into the file at path: a process that was "
        "restarted knows nothing else"
    )
    if isinstance(error, NotImplementedError):
        raise error
    if isinstance(error, Exception):
        text = " ".join(str(error).split("\n\n")[0].split())
        raise check.Mismatch(
            f"saved in one process, loaded in another: {text}", hint
        )
    if error:
        raise check.Mismatch(
            f"expected the whole state in the checkpoint, but {error}", hint
        )
    return found[stop]


def expect_place(place, epoch, step, when):
    """Compare what load_checkpoint has returned."""
    place = tuple(place)
    check.equal(len(place), 2, name=f"numbers returned, {when}")
    check.equal(place[0], epoch, name=f"epoch, {when}")
    check.equal(place[1], step, name=f"step, {when}")


with check.case(
    "saved and loaded at once: the same weights after one more step",
    hint="is a file written in each call? does it hold weights, buffers, and "
    "what dropout draws from?",
):
    expect_state(
        train_with_dropout(1, 0, IMAGES, LABELS)[0], 1, "weight", seed=0
    )
    expect_state(resumed_at(0)[-1], 1, "weight")
with check.case(
    "another process loads the weights from the file",
    hint="what load_checkpoint needs is in the file at path, not in a variable "
    "or another file",
):
    expect_state(resumed_at(6)[1], 6, "weight")
with check.case(
    "it returns (epoch, step)",
    hint="save both, return both, in this order",
    guard=True,
):
    expect_place(resumed_at(3)[0], 7, 3, "as saved")
with check.case(
    "many more steps: the optimiser remembers",
    hint="what does a step depend on, besides weights and data?",
    more="SGD keeps momenta, and dropout draws from torch's generator",
    essential=True,
):
    expect_state(resumed_at(6)[-1], 12, "weight")
# What one process says of its own files counts beside what another has read
# from one.
with check.case(
    "a save that fails leaves the old checkpoint whole",
    hint="until the new file is whole, nothing happens to the old one",
    guard=True,
):
    place, same, _ = interrupted_save()
    expect_place(place, 3, 4, "of the old checkpoint")
    check.true(same, "the old checkpoint's weights")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "buffers are restored",
    hint="model.parameters() does not name everything that a model holds",
):
    _, loaded, after = resumed_at(4)
    expect_state(loaded, 4, "running")
    expect_state(after, 9, "running")
with check.hidden_case(
    "the old file is never written to",
    hint="a file of its own takes the old one's place; a copy writes into the "
    "old one",
    guard=True,
):
    for name in ("checkpoint.pt", "run.tmp", "run.part", "run.new", "run"):
        first, same, place = interrupted_save(name)
        expect_place(first, 3, 4, f"of the old checkpoint {name}")
        check.true(same, f"the weights of the old checkpoint {name}")
        expect_place(place, 3, 4, f"in the old file {name}")
with check.hidden_case(
    "another optimiser, another rate, float64",
    hint="optimizer.state_dict() has it all, the rates too",
    guard=True,
):
    weights, rate, later = another_optimizer()
    check.true(weights, "the weights in float64")
    check.true(rate, "the rate that was changed")
    check.true(later, "the weights after two more steps of Adam")
with check.hidden_case(
    "every file holds its own state",
    hint="is a file written in each call, at this call's path? what does a "
    "restarted process need?",
    guard=True,
):
    place, (weights, random, momentum) = two_files()
    expect_place(place, 1, 2, "of the first file")
    check.true(weights, "the weights of the first file")
    check.true(random, "the random state of the first file")
    check.true(momentum, "the momentum of the first file")
with check.hidden_case(
    "killed before the new file is in place",
    hint="the old file stays until os.replace; the new one is written in the "
    "same folder",
    guard=True,
):
    place, beside = killed_before_the_replacement()
    beside = list(beside)
    if beside:
        expect_place(place, 3, 4, "after a save that was killed")
        check.equal(beside, [True], name="replaced once, from the same folder")
    else:  # os.replace by another name is not caught in the act: it has saved
        expect_place(place, 5, 6, "after a save that was not killed")
with check.hidden_case(
    "without a checkpoint nothing changes",
    hint="a run begins without a file: the text says what is returned then",
    guard=True,
):
    place, same = load_from_nowhere()
    expect_place(place, 0, 0, "without a file")
    check.true(same, "a model that is as it was")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### torchrun: one script, one host or two
#
# On a cluster an agent runs on each host, `torchrun`: it starts the ranks
# and gives each its `RANK` and `WORLD_SIZE`. If one dies, it starts all of them again, here at most twice.
# On two hosts, the same on each:
#
#     export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
#     torchrun --nnodes 2 --nproc-per-node 1 --max-restarts 2 \
#         --rdzv-backend c10d --rdzv-endpoint HOST0:29500 --rdzv-id 7 script.py
#
# (Without the variable restarted ranks may read the addresses of those that have died: PyTorch issue 135712.)
# With `--nnodes 1 --nproc-per-node 2` the same script runs on one host.

# %% [markdown]
# `labkit.torchrun` runs these commands here: this machine plays every host, with an agent for each.
# The script below reads a function of this notebook from a file and calls it in every rank.

# %% explore=true
SCRIPT = """
import os, pickle, sys
from torch import distributed as dist

dist.init_process_group("gloo")
with open(sys.argv[1], "rb") as file:
    fn, args = pickle.load(file)
fn(*args)
dist.barrier()  # nobody hangs up while others still talk
dist.destroy_process_group()
sys.stdout.flush()
os._exit(0)  # a library's threads could end it by a signal
"""


def run_job(dies_at=None, who=1, **options):
    """Run the job below under torchrun; return the final parameters."""
    with tempfile.TemporaryDirectory() as folder:
        script, call = Path(folder, "script.py"), Path(folder, "call.pickle")
        script.write_text(SCRIPT)
        call.write_bytes(cloudpickle.dumps((job, (folder, dies_at, who))))
        for line in torchrun(script, call, restarts=2, **options):
            if line.startswith("rank "):
                print(line)
            elif "failed (exitcode" in line:
                print(
                    "an agent: failed "
                    + line.partition("failed ")[2].partition(" (pid")[0]
                )
        return torch.load(Path(folder, "final.pt"))


# %% explore=true
def job(folder, dies_at=None, who=1):
    """Train for three epochs; rank `who` may end itself once, before a step."""
    rank, world_size = dist.get_rank(), dist.get_world_size()
    life = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    model = network(seed=rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    ddp, path = DDP(model, Wire(), 2100), Path(folder, "checkpoint.pt")
    begin = load_checkpoint(path, model, optimizer)
    said = f"rank {rank} of {world_size}, life {life}: goes on at {begin}\n"
    print(said, end="", flush=True)  # in one piece, whoever else prints
    for epoch in range(begin[0], 3):
        mine = shard(np.arange(len(y_train)), rank, world_size, epoch)
        pieces = [mine[k : k + 48] for k in range(0, len(mine), 48)]
        for step in range(begin[1] if epoch == begin[0] else 0, len(pieces)):
            if (epoch, step) == dies_at and (rank, life) == (who, 0):
                os.kill(os.getpid(), signal.SIGKILL)
            piece = pieces[step : step + 1]
            train_epoch(ddp, optimizer, x_train.double(), y_train, piece)
            if rank == 0 and step % 5 == 4:
                save_checkpoint(path, model, optimizer, epoch, step + 1)
    if rank == 0:
        final = [p.detach() for p in model.parameters()]
        torch.save(final, Path(folder, "final.pt"))


# %% explore=true
one_host = run_job(hosts=1, ranks=2)

# %% explore=true
two_hosts = run_job(hosts=2, ranks=1)
print(
    "largest difference of a weight from one host's: "
    f"{furthest(two_hosts, one_host):.0e}"
)

# %% [markdown]
# The weights are the same: the ranks do not know which host they are on; the wire does.
# Now rank 1 ends itself before step 8 of epoch 1, as if its machine had lost power.
# Then choose the rank and the moment yourself (an epoch from 0 to 2, a step from 0 to 11). Can you make the last line say False?

# %% explore=true
epoch, step, who = 1, 8, 1  # yours to choose
killed = run_job(dies_at=(epoch, step), who=who, hosts=1, ranks=2)
equal = all(torch.equal(a, b) for a, b in zip(killed, one_host, strict=True))
print(f"weights equal to the undisturbed run's, bit by bit: {equal}")

# %% [markdown]
# The agent saw one of its ranks go (exit code -9), ended the other, which had nobody left to add up with,
# and started both again from the last checkpoint; three steps were computed twice.
# (On a crowded machine a further failure and restart may be printed.)
# The checkpoint holds all that the future depends on, and two ranks add up two numbers, which has only one order:
# the weights are equal bit by bit. With more ranks they may agree up to rounding only.

# %% [markdown]
# ## What a large batch does to learning
#
# With $P$ ranks and 32 images each, an epoch has $P$ times fewer steps: at the same rate the weights go $P$ times less far.
# The *linear rule* (Goyal et al. 2017) multiplies the rate by $P$ as well.
# That is right as long as the gradient hardly changes over $P$ small steps,
# and wrong at the start of training. Their *warm-up* begins with the small rate and lets it grow.

# %% [markdown]
# ### Task 7. The rate of a large batch (1 point)
#
# `lr_at(step, lr, batch, reference, warmup)`: the rate `lr` is good for batches of `reference` images.
# For `batch` images the target is `lr * batch / reference`.
# At step 0 the rate is `lr`, it changes by equal amounts (falls, where `batch` is the smaller one) and reaches the target at step `warmup`, and stays there.
# If `warmup` is 0, it is the target from the start.
#
# `lr_at(5, 0.1, 256, 32, 10)` is half-way from 0.1 to 0.8: `0.45`. About 4 lines.


# %% nbgrader={"grade_id": "lr-at", "solution": true}
def lr_at(
    step: int, lr: float, batch: int, reference: int, warmup: int
) -> float:
    """Return the learning rate of a step, counted from 0."""
    ### BEGIN SOLUTION
    target = lr * batch / reference
    if step >= warmup:
        return target
    return lr + (target - lr) * step / warmup
    ### END SOLUTION


# %% explore=true
plot.curves(
    {
        f"batch {batch}, warm-up {warmup}": (
            np.arange(60),
            [lr_at(s, 0.05, batch, 32, warmup) for s in range(60)],
        )
        for batch, warmup in ((32, 0), (256, 25), (512, 25), (512, 50))
    },
    xlabel="step",
    ylabel="rate",
    title="Your learning rates",
)

# %% nbgrader={"grade_id": "lr-at-check", "grade": true, "points": 1}
from labkit import check

with check.case(
    "the worked example",
    hint="half-way between which two rates, after 5 of 10 steps? which steps "
    "have the target already?",
):
    check.close(lr_at(5, 0.1, 256, 32, 10), 0.45, name="rate at step 5")
with check.case(
    "it begins with lr", hint="warm-up starts at lr, not at 0", guard=True
):
    check.close(lr_at(0, 0.2, 512, 64, 20), 0.2, name="rate at step 0")
with check.case(
    "it ends at the target", hint="from step warmup on nothing changes"
):
    check.close(lr_at(20, 0.2, 512, 64, 20), 1.6, name="rate at step 20")
    check.close(lr_at(500, 0.2, 512, 64, 20), 1.6, name="rate at step 500")
with check.case(
    "without a warm-up", hint="do not divide by 0: the target from the start"
):
    check.close(lr_at(0, 0.2, 512, 64, 0), 1.6, name="rate at step 0")
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "equal amounts, also where batch is no multiple",
    hint="80 images are two and a half times 32",
    essential=True,
):
    found = [float(lr_at(step, 0.3, 80, 32, 4)) for step in range(6)]
    check.close(found, [0.3, 0.4125, 0.525, 0.6375, 0.75, 0.75], name="rates")
with check.hidden_case(
    "a smaller batch: the rate falls", hint="the same formula; no max or min"
):
    found = [float(lr_at(step, 0.8, 16, 64, 3)) for step in range(5)]
    check.close(found, [0.8, 0.6, 0.4, 0.2, 0.2], name="rates")
### END HIDDEN TESTS
check.score(1)

# %% [markdown]
# ### Experiment 3. The same epochs, larger batches
#
# A step on $P$ ranks with 32 images each is a step on $32 P$ images, so one process with large batches speaks for 8 ranks.
# Twenty epochs each, three seeds, from two starts: He's, and one with weights 1.8 times as large, where the loss is steep.


# %% nbgrader={"grade_id": "one-process", "locked": true}
def some_network(seed: int, start: float = 1.0, hidden: int = 3):
    """Return a network whose first weights are `start` times He's."""
    torch.manual_seed(seed)
    sides = [64] + [128] * hidden
    ends = [*sides[1:], 10]
    layers = [nn.Linear(a, b) for a, b in zip(sides, ends, strict=True)]
    for layer in layers:
        std = start * math.sqrt(2 / layer.in_features)
        nn.init.normal_(layer.weight, std=std)
        nn.init.zeros_(layer.bias)
    parts = [part for layer in layers for part in (layer, nn.ReLU())]
    return nn.Sequential(*parts[:-1])


def one_step(net, optimizer, some) -> None:
    """Take a step on some of the training images."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x_train[some]), y_train[some])
    loss.backward()
    optimizer.step()


def accuracy_of(net) -> float:
    """Return the share of the validation images that are read correctly."""
    with torch.no_grad():
        right = net(x_validation).argmax(dim=1) == y_validation
    return right.float().mean().item()


# %% explore=true
def large_batch_run(seed, batch, rule, start, epochs=20, losses=None):
    """Return the validation accuracy; add each step's loss to `losses`."""
    net, step = some_network(seed, start), 0
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    total = epochs * math.ceil(len(x_train) / batch)
    warmup = total // 4 if rule == "warm-up" else 0
    for epoch in range(epochs):
        order = shard(np.arange(len(x_train)), 0, 1, 100 * seed + epoch)
        for at in range(0, len(order), batch):
            if rule != "fixed rate":
                rate = lr_at(step, 0.05, batch, 32, warmup)
                optimizer.param_groups[0]["lr"] = rate
            one_step(net, optimizer, order[at : at + batch])
            step += 1
            if losses is not None:
                with torch.no_grad():
                    loss = nn.functional.cross_entropy(net(x_train), y_train)
                losses.append(loss.item())
    return accuracy_of(net)


def medians_of(batch, rule):
    """Return the median accuracy of three seeds, for each start."""
    runs_of = [
        [large_batch_run(seed, batch, rule, start) for seed in range(3)]
        for start in (1.0, 1.8)
    ]
    return np.median(runs_of, axis=1)


# %% explore=true
rules = ("fixed rate", "linear rule", "warm-up")
accuracies = {(32, "fixed rate"): medians_of(32, "fixed rate")}
for rule in rules:
    accuracies[256, rule] = medians_of(256, rule)
    reached = accuracies[256, rule][1]
    print(
        f"batch 256, {rule:11}: {reached:6.1%}, you predicted "
        f"{predictions()[rule]:6.1%}"
    )
print("\nmedian of three seeds     He's start   1.8 x")
for (batch, rule), (gentle, steep) in accuracies.items():
    print(f"batch {batch:3}, {rule:12} {gentle:12.1%} {steep:7.1%}")
falls = {}
for rule in rules:
    large_batch_run(0, 256, rule, 1.8, losses=falls.setdefault(rule, []))
ax = plot.curves(
    falls,
    xlabel="step",
    ylabel="training loss",
    title="Batches of 256 from the steep start, one seed",
    logy=True,
)
ax.legend(frameon=False, loc="best")
ax.axhline(np.log(10), color="grey", linestyle=":")
_ = ax.text(100, 2.1, "guessing", color="grey", ha="right", va="top")

# %% [markdown]
# At a fixed rate 256 images a step learn less in the same epochs: too few steps of the old length.
# The linear rule makes up for most of it where the start is gentle.
# From the steep start its first steps can destroy a network: the loss leaps up, and a curve that stays at the dotted line,
# $\ln 10$, only guesses.
# The warm-up takes the large steps later, where the slope is mostly gentler; its loss may leap as well, and come back.

# %% [markdown]
# ### Experiment 4. How large is too large?
#
# Count the *steps* until 95 % of the validation images are read, instead of the accuracy after some epochs.
# As long as twice the batch halves the steps, twice the ranks halve the time.
# How far does that go? The rate has to fit each batch, else you measure the rate; here are two simple ways to choose it.


# %% nbgrader={"grade_id": "steps-to", "locked": true}
def steps_to(batch, rate, seed, goal=0.95, most=400) -> float:
    """Return the steps until the goal is reached; NaN if not in `most`."""
    net, draw = some_network(seed, hidden=2), np.random.default_rng(seed)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for step in range(1, most + 1):
        one_step(net, optimizer, draw.integers(0, len(x_train), batch))
        if step % 4 == 0 and accuracy_of(net) >= goal:
            return step
    return math.nan


# %% explore=true
tried = np.array([16, 32, 64, 128, 256, 512])
found, scatter = {}, {}
for title, rates in {
    "rate 0.2 for all": np.full(6, 0.2),
    "linear rule from 0.2 at 32": 0.2 * tried / 32,
}.items():
    runs_of = [
        [steps_to(batch, rate, seed) for seed in range(3)]
        for batch, rate in zip(tried.tolist(), rates.tolist(), strict=True)
    ]
    found[title] = tried, np.median(runs_of, axis=1)
    scatter[title] = np.min(runs_of, axis=1), np.max(runs_of, axis=1)
    print(f"{title:28}", found[title][1])
print("nan, a cross: a seed did not get there within 400 steps")
figure = plot.curves(
    found,
    spread=scatter,
    title="Steps to 95 %, three seeds; dotted: half for twice the batch",
    xlabel="images a step",
    ylabel="steps to 95 %",
    logx=True,
    logy=True,
)
for line, (_, steps) in zip(list(figure.lines), found.values(), strict=True):
    half = steps[0] * tried[0] / tried
    figure.plot(tried, half, ":", color=line.get_color(), linewidth=1.2)
    for batch in tried[np.isnan(steps)]:
        figure.plot(batch, 400, "x", color=line.get_color())
figure.set_xticks(tried, tried)
figure.minorticks_off()

# %% [markdown]
# A single rate for all is too small for large batches: twice the images save far less than half the steps.
# The linear rule falls more steeply, until its rate is more than the loss can bear; then it fails.
# You find the best rate of each batch in the open task.
#
# Beyond some size more images tell the gradient nothing new.
# McCandlish et al. (2018) model that by
#
# $$\text{steps} = S\,(1 + B_c / B) .$$
#
# No batch needs fewer than $S$ steps. At the *critical batch* $B_c$ it takes $2S$:
# below it steps fall nearly as $1/B$, above it hardly.

# %% [markdown]
# ### With a GPU
#
# The next cell takes the steps of Experiment 2 on GPUs, or shows what a recorded run printed.
# `launch` chooses NCCL, NVIDIA's library of collectives, when each rank can have a GPU of its own; two ranks that share one talk through gloo,
# the library for CPUs.

# %% explore=true
from labkit import recorded

if device() != "cuda":
    print("No CUDA GPU here: skipped NCCL, and two ranks that share a GPU.")
    print(recorded("12_data_parallel"))
else:
    many = torch.cuda.device_count()
    on_gpus = {
        P: launch(step_seconds, P, 4096, "cuda", timeout_s=60)
        for P in sorted({1, many})
    }
    took_s = [float(np.median(found[0])) for found in on_gpus.values()]
    shares = efficiency(list(on_gpus), [4096 * P for P in on_gpus], took_s)
    for P, s, share in zip(on_gpus, took_s, shares, strict=True):
        print(
            f"NCCL, {P} ranks, 4096 images each: {s * 1e3:.2f} ms a step, "
            f"efficiency {share:.0%}"
        )
    pair = launch(step_seconds, 2, 2048, "cuda", backend="gloo", timeout_s=60)
    print(
        "two ranks on one GPU, 2048 images each, gloo: "
        f"{np.median(pair[0]) * 1e3:.2f} ms a step"
    )

# %% [markdown]
# Two ranks on one GPU share its cores, and gloo moves every byte through the host: that is for trying a program out.

# %% [markdown]
# ### In your words (2 points)
#
# A colleague trains an image classifier, 90 epochs each time, at a fixed learning rate of 0.1.
# On one GPU a step of 256 images takes 0.400 s. Her gradients are 100 MB, sent in one ring all-reduce after backward;
# $\alpha$ is 20 µs, $1/\beta$ is 10 GB/s.
#
# | GPUs | images a step | s a step | validation accuracy |
# |---|---|---|---|
# | 1 | 256 | 0.400 | 76.3 % |
# | 16 | 4096 | 0.419 | 71.8 % |
# | 16 | 256 | 0.044 | 76.3 % |
#
# She reports: *We train 15 times as fast on 16 GPUs.*

# %% [markdown]
# 1. Compute the efficiency of the second and the third row. Which kind of scaling is each?
#    What is wrong with her sentence, and what should she try first for the second row?
# 2. Where do 19 ms come from? If backward is two thirds of the computing,
#    how short could a step become at best in each row with buckets?
#
# About 150 words.

# %% [markdown] nbgrader={"grade_id": "report", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# Second row: weak scaling, $4096/0.419/16$ over $256/0.400$ is 95 %. Third row: strong scaling, $0.400/(16 \cdot 0.044)$ is 57 %.
# 15 times is the images a second of the weak row, and that training ends 4.5 points lower: it is not the same result, 15 times earlier.
# With the same result she is 9 times as fast.
# 16 times the images a step are 16 times fewer steps, at an unchanged rate, so the weights go less far.
# She should try the linear rule (rate 1.6) with a warm-up of some epochs first; if the accuracy does not come back, a smaller batch.
#
# A ring over 16 ranks takes $30 \cdot 20\,\mu s + 2 \cdot \frac{15}{16} \cdot 100\,\mathrm{MB} / (10\,\mathrm{GB/s})$, 0.6 ms + 18.75 ms.
# In the second row backward takes 267 ms: all but the last bucket can be hidden, so the step approaches 0.400 s.
# In the third row computing takes 25 ms, of which backward is 17 ms. The wire needs 19 ms and cannot begin before backward has:
# 8 ms + 19 ms, some 28 ms, is the least; a finer cut adds more $\alpha$.
#
# **Rubric.**
#
# * 1 point: 95 % weak and 57 % strong (half); throughput at another accuracy is not the same training faster,
#   and the linear rule with warm-up before anything else (half).
# * 1 point: 19 ms from both terms; next to nothing left to hide (about 0.400 s) in row two, and a least of 27 to 28 ms in row three, with a reason
#   (half a point for the formula alone, or for 25 ms, which is computing alone).
#
# Half a point off each for a number without its computation. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Open task: how many devices would you rent? (2 points)
#
# You may rent 1, 2, 4, 8 or 16 devices, each of which computes 8 images a step,
# and pay for each by the hour until 95 % is reached.
# A step of $P$ devices takes `modelled_step(one_s[8], sizes_wide, 2**21, P, alpha, beta)`:
# the steps are those of the small network above, the seconds those of a million weights
# (the small one computes too little to be worth sharing).
# Processes of one machine have a large $\alpha$; ask also for a fast network, with 20 µs and 10 GB/s.
# You choose the rate of each batch, with or without warm-up, the optimiser, and how many seeds.

# %% [markdown]
# Hand in, below and in the cell after it:
#
# 1. a figure of steps to 95 % against the batch, at least five batches with rates that *you tuned for each*,
#    with the straight line of halving steps; read off, or fit, the critical batch $B_c$;
# 2. three or four sentences: how many devices you rent, what time and price (devices times time) speak for it,
#    and where your answer is unsure.

# %% explore=true
# Change this cell: three batches, two rates and two seeds are too few.
# A rate that misses the goal counts as infinitely many steps; batches of 8
# may need more than `most=400`.
rates_tried = (0.2, 0.4)
best = {}
for batch in (16, 32, 64):
    runs_of = {
        rate: np.nan_to_num(
            np.mean([steps_to(batch, rate, seed) for seed in range(2)]),
            nan=np.inf,
        )
        for rate in rates_tried
    }
    best[batch] = min(runs_of.values())
    said = {rate: f"{steps:.0f}" for rate, steps in runs_of.items()}
    print(f"{batch} images a step:", said)

# %% explore=true
for batch, steps in best.items():
    P = batch // 8
    step_s = modelled_step(one_s[8], sizes_wide, 2**21, P, alpha, beta)
    print(
        f"{P:2} devices: {steps:4.0f} steps, {steps * step_s:6.2f} s, "
        f"{P * steps * step_s:6.2f} device seconds (modelled)"
    )
first = best[16]
figure = plot.curves(
    {
        "best of my rates": (list(best), list(best.values())),
        "half the steps": (list(best), [first * 16 / b for b in best]),
    },
    xlabel="images a step",
    ylabel="steps to 95 %",
    title="How large is too large? Three batches do not say",
    logx=True,
    logy=True,
)

# %% [markdown] nbgrader={"grade_id": "rent", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# In a run of the whole experiment (the cells above show a part) I tried rates of 0.1 to 1.6 for each batch, three seeds each. Best were 0.2 for 8 and 16 images, 0.4 up to 64, 0.8 for 128.
# Steps were about 350, 180, 100, 95 and 75 for 8, 16, 32, 64 and 128 images: halving holds up to 32, then the line bends.
# A fit of $S (1 + B_c / B)$ gives $S \approx 60$ and $B_c$ between 30 and 40.
# With a fast network I rent four devices, for 32 images a step: a bit more than a quarter of the steps, so that time falls by nearly as much as the price per second rises,
# as long as messages are short beside 8 images of computing. By the model of this machine they are not:
# each step takes longer the more devices add up. Here I would therefore rent two. Sixteen would need a fifth of the steps at several times the price.
# Unsure: three seeds scatter by a quarter, as much as the last doubling gains;
# the step is modelled with the messages of this machine's processes, and a better wire favours more devices; a warm-up may allow larger rates.
#
# **Rubric.**
#
# * 1 point: the figure, with at least five batches, at least three rates tried for each, the straight line, labelled axes; $B_c$ named from it.
#   Half a point if one rate served all batches, or without the line.
# * 1 point: a number of devices that follows from their own figure and table, with time and price (half);
#   what is unsure: scatter of the seeds, the modelled step, tuning (half).
#
# Which number they rent earns nothing. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Optional: the same in a line, FSDP2 and MirroredStrategy (20 minutes)
#
# DDP keeps all weights, gradients and momenta on every rank.
# PyTorch's `fully_shard` (FSDP2; Zhao et al. 2023, after Rajbhandari et al. 2020) keeps $1/P$ of each,
# gathers a layer's weights when they are needed, and scatters the sums of gradients.
# `p.to_local()` is what a rank holds.


# %% explore=true
def with_fsdp(rank, world_size):
    """Take five steps; return the bytes held, and all parameters."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model, mesh = network(), init_device_mesh("cpu", (world_size,))
    for layer in model:
        if any(True for _ in layer.parameters()):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for at in range(0, 5 * 48, 48):
        some = np.arange(at + rank, at + 48, world_size)
        optimizer.zero_grad()
        logits = model(x_train[some].double())
        nn.functional.cross_entropy(logits, y_train[some]).backward()
        optimizer.step()
    momenta = [memory["momentum_buffer"] for memory in optimizer.state.values()]
    held = [
        sum(t.to_local().nbytes for t in group)
        for group in (model.parameters(), momenta)
    ]
    return held, [p.full_tensor().detach() for p in model.parameters()]


# %% explore=true
steps_of_48 = [np.arange(at, at + 48) for at in range(0, 240, 48)]
alone_too = with_yours(0, 1, [steps_of_48])
whole = sum(p.nbytes for p in network().parameters())
print("bytes    parameters     momenta   off from the serial twin")
print(f"{'DDP':8} {whole:10,} {whole:11,}")
for r, (held_here, weights) in enumerate(launch(with_fsdp, 2, backend="gloo")):
    parameters, momenta = held_here
    off = furthest(weights, alone_too)
    print(f"FSDP2, {r} {parameters:10,} {momenta:11,} {off:26.0e}")

# %% [markdown]
# Each rank holds its part, and the weights are the serial twin's.
# The price: weights are gathered on the way forward and again on the way back,
# half as many bytes again as DDP sends.
#
# TensorFlow's `MirroredStrategy` is DDP for the devices of one host; below on two logical CPUs.


# %% folded=true nbgrader={"grade_id": "mirrored", "locked": true}
def strategy_of(replicas):
    """Return a strategy over some of two logical CPUs."""
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, two)
    names = [f"CPU:{k}" for k in range(replicas)]
    return tf.distribute.MirroredStrategy(names)


def mirrored(images, labels, replicas):
    """Take ten steps on some logical CPUs; return the loss of each."""
    import tensorflow as tf

    strategy = strategy_of(replicas)
    tf.keras.utils.set_random_seed(0)
    with strategy.scope():
        hidden = tf.keras.layers.Dense(32, activation="relu")
        layers = [tf.keras.Input((64,)), hidden, tf.keras.layers.Dense(10)]
        model = tf.keras.Sequential(layers)
        optimizer = tf.keras.optimizers.SGD(0.1)

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
            loss = tf.reduce_sum(each) / 48.0
        weights = model.trainable_variables
        found = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(found, weights, strict=True))
        return loss

    @tf.function
    def step(pair):
        return strategy.reduce("SUM", strategy.run(replica_step, pair), None)

    pairs = tf.data.Dataset.from_tensor_slices((images, labels)).batch(48)
    batches = strategy.experimental_distribute_dataset(pairs.take(10))
    return [float(step(pair)) for pair in batches]


# %% explore=true
given = (x_train[:480].numpy(), y_train[:480].numpy())
variables = {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": ""}
curves_of_tf = {
    f"{replicas} replica{'s' * (replicas > 1)}": in_fresh_process(
        mirrored, *given, replicas, environment=variables
    )
    for replicas in (1, 2)
}
print(f"{'step':>4} " + " ".join(f"{title:>11}" for title in curves_of_tf))
for step in (0, 4, 9):
    print(
        f"{step:4} "
        + " ".join(f"{losses[step]:11.6f}" for losses in curves_of_tf.values())
    )
off = np.abs(np.subtract(*curves_of_tf.values())).max()
print(f"largest difference of a loss: {off:.0e}")

# %% [markdown]
# ## Optional: a growing batch instead of a falling rate (5 minutes)
#
# Where a schedule would divide the rate, one may multiply the batch (Smith et al. 2018).


# %% explore=true
def late_change(seed, change):
    """Change rate or batch after 12 epochs of 20; return what came of it."""
    net, taken = some_network(seed, hidden=2), 0
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    for epoch in range(20):
        batch = 256 if epoch >= 12 and change == "batch times 8" else 32
        if epoch == 12 and change == "rate over 8":
            optimizer.param_groups[0]["lr"] /= 8
        order = shard(np.arange(len(x_train)), 0, 1, 100 * seed + epoch)
        for at in range(0, len(order), batch):
            one_step(net, optimizer, order[at : at + batch])
            taken += 1
    loss = nn.functional.cross_entropy(net(x_train), y_train).item()
    return accuracy_of(net), loss, taken


print(f"{'after 12 epochs':15} accuracy  training loss  steps")
for change in ("no change", "rate over 8", "batch times 8"):
    found = [late_change(seed, change) for seed in range(3)]
    share, loss, taken = np.median(found, axis=0)
    print(f"{change:15} {share:8.1%} {loss:14.4f} {taken:6.0f}")

# %% [markdown]
# Compare the last two rows: about the same loss and accuracy, in fewer steps,
# each of which eight times as many ranks can share.
# (Whether this easy set needs either, the first row says.)

# %% [markdown]
# ## Your result card
#
# The modelled efficiency of weak scaling at 16 ranks; its note says what was measured and what was not.

# %% explore=true
weak_title = "weak, 512 a rank, buckets of 1 MiB"
one_bucket = modelled["weak, 512 a rank, one bucket"][1][-1]
result_card(
    "weak scaling of data-parallel training at 16 ranks (efficiency)",
    modelled[weak_title][1][-1],
    kind="modelled",
    seed_value=0.91,
    source="C: 91 % at 16 GPUs of one machine",
    lab="12_data_parallel",
    note=f"Buckets of 1 MiB; with one bucket {one_bucket:.2f}. Computing, "
    "alpha and beta are measured on up to two ranks; 16 are modelled.",
)

# %% [markdown]
# ## What you take along
#
# * Every rank draws the same order and takes its own part: each step is the serial twin's, and can be tested against it.
# * Sums, divided by the images of all ranks: averages of averages are another model.
# * All ranks make the same calls in the same order, also one that has nothing to say.
# * A bucket leaves when its gradients are complete, and hides behind what is still computed.
# * Say which scaling, what was measured, what was modelled, and the accuracy beside it.
# * A larger batch needs a larger rate, a larger rate a warm-up, and both end somewhere.
# * A checkpoint holds all that decides the future, and replaces the old one at once.
#
# The next lab asks whether ranks have to agree at every step at all.
