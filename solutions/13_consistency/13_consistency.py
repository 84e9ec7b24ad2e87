# %% [markdown]
# # 13. Consistency
#
# **Must all workers agree at every step?**
# In lab 12 all wait for the slowest, so all have the same weights.
# Here you let go of that, in a simulator, where a second costs nothing and a slow worker is a number.
#
# ![A scale from consistent to inconsistent, with five ways on it. Synchronous: same weights. Stale-synchronous: late, with a limit. Asynchronous: late, without one. Model averaging: own weights, tied. Ensemble: workers never talk.](figures/scale.svg)
#
# Talk B's scale is the map of this lab: blue ways share one set of weights, orange ones have weights of their own.
# For slides D (C. Olivares, 2017) asynchronous descent is the main method of large-scale training.
# Talk B (T. Hoefler, 2018) sees research converge on MPI, whose all-reduce (lab 11) waits for everybody. Which was right?

# %% [markdown]
# | | |
# |---|---|
# | Prerequisites | NumPy, gradients (lab 01), the parameter server and all-reduce (lab 11), data-parallel training (lab 12) |
# | Time | two sittings: Tasks 1 to 5 and Experiments 1 to 3 (2 h 45), then all to "What you take along" (2 h 15). Short of time: the first sitting, Task 8 and "In your words" (4 h) |
# | Optional | stands together at the end: about 2 hours more, without points |
# | Points | 20: 16 from checks, 2 from an open task, 2 from a written answer |
# | Hardware | two CPU cores; a GPU for one optional cell |

# %% [markdown]
# ## How this notebook works
#
# Replace the line that raises `NotImplementedError`, run the check right below, and read the first case that fails.
# Hidden cases test what the task's text promises, with other numbers.
# Your code must change neither its arguments nor a result that it has returned before. No check looks at a real clock.
#
# Folded cells are given: run them. Cells that begin with `# explore` are yours to change.
# They are not run when your work is graded:
# a helper or an import that a task needs belongs in the task's cell; a plot of yours is read as you saved it.

# %% nbgrader={"grade_id": "setup", "locked": true}
import heapq
import math
from functools import partial

import numpy as np
import torch
from torch import distributed as dist

from labkit import (
    background,
    check,
    device,
    in_fresh_process,
    launch,
    load,
    plot,
    result_card,
    scale,
)

torch.set_num_threads(1)
digits = load("digits")
(x_train, y_train), (x_validation, y_validation) = (
    (split.x.reshape(-1, 64).astype(np.float32), split.y)
    for split in (digits.train, digits.validation)
)
print(digits)

# %% [markdown]
# ### Task 1. Predict (1 point)
#
# Sixteen workers each take about 1 s for a gradient. One step in twenty is delayed, by 3 s on average.
# If nobody waits they compute some 14 gradients a second. Commit to three numbers:
#
# * `"together"`: gradients a second, if at every step everybody waits for the slowest;
# * `"without_two"`: gradients a second that are used, if at each step the two slowest are not waited for, and their work is thrown away;
# * `"stale"`: if nobody waits, how many gradients of others arrive between the moment at which a worker reads the weights
#   and the arrival of its own gradient, on average.
#
# `predictions()` returns a dictionary with these keys and a number above 0 for each, the same in each call. 1 line.


# %% nbgrader={"grade_id": "predictions", "solution": true}
def predictions() -> dict[str, float]:
    """Return two numbers of gradients a second, and a number of gradients."""
    ### BEGIN SOLUTION
    return {"together": 5.5, "without_two": 12.0, "stale": 15.0}
    ### END SOLUTION


# %% nbgrader={"grade_id": "predictions-check", "grade": true, "points": 1}
from labkit import check

KEYS = ["stale", "together", "without_two"]
with check.case(
    "three predictions",
    hint="return a dictionary with exactly the three keys of the text",
):
    check.equal(sorted(predictions()), KEYS)
with check.case("each is above 0", hint="a number, not a text"):
    for name in KEYS:
        check.at_least(predictions()[name], 1e-9, name=name)
with check.case(
    "the same in each call", hint="commit: draw nothing", guard=True
):
    check.equal(predictions(), predictions(), name="two calls")
check.score(1)

# %% [markdown]
# ## A cluster in virtual time
#
# ### Task 2. Backup workers (2 points)
#
# With a few *backup workers* more than needed, the gradients of the slowest in each round are thrown away (Chen et al. 2016; figure 14 of slides D).
#
# `backup_workers(durations, needed)` returns *events* in their order, a list of tuples `(time, "start", worker)` and `(time, "end", worker)`.
# `durations` has the shape `(workers, steps)`: worker $w$ needs `durations[w, k]` seconds for its step $k$. In round $k$
#
# 1. all workers start, in the order of their numbers, in the first round at time 0;
# 2. the first `needed` of them to finish end, the shortest duration first; ties: lower number first (`kind="stable"`);
# 3. with the last of these ends the round is over, and the next one starts. The others give up their step: it has no end.
#
# `needed` is from 1 to the number of workers. Without steps there are no events.

# %% [markdown]
# With durations `[[2], [9], [1]]` and `needed` = 2:
#
# | time | 0 | 0 | 0 | 1 | 2 |
# |---|---|---|---|---|---|
# | kind | start | start | start | end | end |
# | worker | 0 | 1 | 2 | 2 | 0 |
#
# Another round would start at 2. About 8 lines.


# %% nbgrader={"grade_id": "backup", "solution": true}
def backup_workers(durations: np.ndarray, needed: int) -> list[tuple]:
    """Return the events of rounds that wait for the first workers only."""
    ### BEGIN SOLUTION
    events, now = [], 0.0
    for seconds in durations.T:
        events += [(now, "start", worker) for worker in range(len(seconds))]
        first = np.argsort(seconds, kind="stable")[:needed]
        events += [(now + float(seconds[w]), "end", int(w)) for w in first]
        now += float(seconds[first[-1]])
    return events
    ### END SOLUTION


# %% nbgrader={"grade_id": "backup-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def compare_events(table, needed, want):
    """Compare what happens: "0+" starts, "0-" ends."""
    found = backup_workers(np.array(table), needed)
    check.true(isinstance(found, list), "a list of events")
    kinds = {"+": "start", "-": "end"}
    names = [f"{kind} {int(w)}" for _, kind, w in found]
    wanted = [f"{kinds[w[-1]]} {w[:-1]}" for w in want.split()]
    check.equal(names, wanted, name="events")


def compare_times(table, needed, want):
    """Compare when it happens."""
    found = backup_workers(np.array(table), needed)
    check.close([float(time) for time, _, _ in found], want, name="times")


with check.case(
    "the worked example",
    hint="all start; the first of them end, in the order of their ends",
):
    compare_events([[2], [9], [1]], 2, "0+ 1+ 2+ 2- 0-")
    compare_times([[2], [9], [1]], 2, [0, 0, 0, 1, 2])
with check.case(
    "three rounds: who ends",
    hint="each round has its own first ones; the slow ones start again, too",
    essential=True,
):
    five = [[1, 3, 2], [4, 1, 1.5], [2, 2, 4], [1.5, 5, 1], [3, 1.5, 3]]
    begin = "0+ 1+ 2+ 3+ 4+"
    want = f"{begin} 0- 3- 2- {begin} 1- 4- 2- {begin} 3- 1- 0-"
    compare_events(five, 3, want)
with check.case(
    "three rounds: when",
    hint="a round starts when the last of those that were needed has ended",
):
    ends = [1, 1.5, 2], [3, 3.5, 4], [5, 5.5, 6]
    times = [0] * 5 + ends[0] + [2] * 5 + ends[1] + [4] * 5 + ends[2]
    compare_times(five, 3, times)
### BEGIN HIDDEN TESTS


def rounds(table, needed):
    """Return the events of the text, one worker after the other."""
    events, now = [], 0.0
    for k in range(len(table[0]) if len(table) else 0):
        left = list(range(len(table)))
        events += [(now, "start", w) for w in left]
        end = now
        for _ in range(needed):
            w = min(left, key=lambda w: (table[w][k], w))
            left.remove(w)
            end = now + float(table[w][k])
            events.append((end, "end", w))
        now = end
    return events


def expect(table, needed):
    """Compare with what the text says of this table."""
    want = rounds(table, needed)
    signs = {"start": "+", "end": "-"}
    said = " ".join(f"{w}{signs[kind]}" for _, kind, w in want)
    compare_events(table, needed, said)
    compare_times(table, needed, [time for time, _, _ in want])


with check.hidden_case(
    "all are needed, one is needed",
    hint="needed may be anything from one to all",
):
    several = np.random.default_rng(6).uniform(0.5, 4, (4, 4))
    expect(several, 4)
    expect(several, 1)
with check.hidden_case(
    "equally fast",
    hint="the lower number is first, and who is not first gives up",
):
    expect([[1, 2], [1, 1], [1, 1], [1, 2]], 2)
    expect([[3, 1], [1, 1], [3, 1], [3, 1]], 3)
with check.hidden_case(
    "nearly equally fast",
    hint="compare the durations as they are, not rounded",
):
    near = [[2 + 4e-9, 1], [2 + 2e-9, 1 + 1e-9], [2, 1 + 1e-9], [3, 1 - 1e-9]]
    expect(near, 1)
    expect(near, 2)
with check.hidden_case(
    "forty workers, all alike", hint="the lower numbers are first"
):
    expect(np.ones((40, 2)), 25)
with check.hidden_case(
    "one worker, no step",
    hint="nothing to do, no events",
):
    expect([[0.5, 2, 1]], 1)
    check.equal(len(backup_workers(np.ones((3, 0)), 2)), 0, name="events")
with check.hidden_case(
    "whole seconds, and sixteen workers",
    hint="times add up: whose counts in a round? of equal times, who comes "
    "first?",
):
    whole = np.random.default_rng(7).integers(1, 9, (16, 12))
    expect(whole, 14)
with check.hidden_case(
    "two calls; the table and the first events stay as they were",
    hint="keep nothing; sort a copy, or the numbers of the workers",
    guard=True,
):
    kept = np.array([[2.0, 1], [9, 3], [1, 2]])
    with check.unchanged(durations=kept):
        first = backup_workers(kept, 2)
    expect(kept[::-1].copy(), 2)
    check.separate(backup_workers(kept[::-1].copy(), 2), first)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# Now with the delays of Task 1. For how many of the sixteen is it best to wait?


# %% nbgrader={"grade_id": "seconds", "locked": true}
def seconds_of(workers, steps, seed, share=0.05, delay=3.0):
    """Return durations: 1 s and 10 %, and delays for a share of the steps."""
    draw = np.random.default_rng([seed, 13])
    usual = np.exp(0.1 * draw.standard_normal((workers, steps)))
    delayed = draw.random((workers, steps)) < share
    return usual + delayed * draw.exponential(delay, (workers, steps))


def rate_of(events, seconds):
    """Return ends a second, of those within the first so many seconds."""
    ends = [time for time, kind, _ in events if kind == "end"]
    return sum(time <= seconds for time in ends) / seconds


# %% explore=true
cluster_seconds = seconds_of(16, 400, seed=0)
rates = {}
for needed in range(16, 7, -1):
    rates[needed] = rate_of(backup_workers(cluster_seconds, needed), 300)
ax = plot.curves(
    {"used": (np.array(list(rates)), np.array(list(rates.values())))},
    title="Sixteen workers, some of which are not waited for",
    xlabel="workers that are waited for",
    ylabel="gradients used a second",
)
for name, needed in (("together", 16), ("without_two", 14)):
    found = rates[needed]
    print(f"{name}: {found:.2f}, you predicted {predictions()[name]:g}")
    ax.plot(needed, found, "o", color=plot.PALETTE[1])
    place = {"xytext": (-8, 5 if needed < 16 else -4), "ha": "right"}
    place |= {"textcoords": "offset points"}
    ax.annotate(f"{name}: {found:.1f}", (needed, found), **place)
_ = ax.set_ylim(0, 14)

# %% [markdown]
# Two of sixteen thrown away, and the rest more than twice as fast: a delay of 3 s costs all sixteen workers 3 s.
# Waiting for even fewer wastes gradients without any delay to avoid.

# %% [markdown]
# ### Task 3. The simulator (3 points)
#
# Now without rounds: a rule says who may start. `simulate(durations, may_start)` returns events as in Task 2.
#
# 1. At time 0, and after every end, all workers that are not at work and have a step left are asked once, in the order of their numbers.
# 2. A worker that is asked starts at once `if may_start(worker, clocks)`.
#    `clocks` is a list of integers: how many steps each worker has ended. A rule only reads the list, and does not keep it.
# 3. The next event is the earliest end of all; of ends at the same time, that of the lowest number.
#    The worker's clock grows by one, and all are asked again (1), also between two ends at the same time.
# 4. It is over when nobody is at work, steps left or not. Without workers or steps there are no events.

# %% [markdown]
# Two rules for durations `[[2, 2], [3, 1]]`:
#
# ![Two rules for the same durations. Nobody waits: worker 0 works from 0 to 2 and from 2 to 4, worker 1 from 0 to 3 and from 3 to 4. In step: worker 0 works from 0 to 2, waits until 3, and works from 3 to 5; worker 1 works from 0 to 3 and from 3 to 4.](figures/events.svg)
#
# With `always` the events are these, one a column:
#
# | time | 0 | 0 | 2 | 2 | 3 | 3 | 4 | 4 |
# |---|---|---|---|---|---|---|---|---|
# | kind | start | start | end | start | end | start | end | end |
# | worker | 0 | 1 | 0 | 0 | 1 | 1 | 0 | 1 |
#
# About 14 lines. A heap (`heapq`) of pairs `(time, worker)` gives the next end, the lower number first.


# %% nbgrader={"grade_id": "rules", "locked": true}
def always(worker, clocks):
    """Nobody waits."""
    return True


def in_step(worker, clocks):
    """Wait until no clock is behind one's own."""
    return clocks[worker] == min(clocks)


# %% nbgrader={"grade_id": "simulate", "solution": true}
def simulate(durations: np.ndarray, may_start) -> list[tuple]:
    """Return the events of all workers, in their order."""
    # all clocks at 0, all workers idle, no ends on the heap; then, for ever:
    #   ask the idle that have a step left; an end for who starts, on the heap
    #   no end on the heap: nobody is at work, return the events
    #   take the earliest end from the heap: the time now, and an event
    #   the worker's clock grows, and it is idle
    ### BEGIN SOLUTION
    workers, steps = durations.shape
    clocks, ends, events, idle = [0] * workers, [], [], set(range(workers))
    now = 0.0
    while True:
        for worker in sorted(idle):
            k = clocks[worker]
            if k < steps and may_start(worker, list(clocks)):
                events.append((now, "start", worker))
                heapq.heappush(
                    ends, (now + float(durations[worker, k]), worker)
                )
                idle.remove(worker)
        if not ends:
            return events
        now, worker = heapq.heappop(ends)
        events.append((now, "end", worker))
        clocks[worker] += 1
        idle.add(worker)
    ### END SOLUTION


# %% explore=true
for rule in (always, in_step):
    print(rule.__name__)
    for event in simulate(np.array([[2, 2], [3, 1]]), rule):
        print("  ", *event)

# %% nbgrader={"grade_id": "simulate-check", "grade": true, "points": 3}
import numpy as np

from labkit import check


def free(worker, clocks):
    """Nobody waits."""
    return True


def together(worker, clocks):
    """Wait until no clock is behind one's own."""
    return clocks[worker] == min(clocks)


def compare(table, rule, want, times):
    """Compare the events ("0+" starts, "0-" ends), and their times."""
    found = simulate(np.array(table), rule)
    check.true(isinstance(found, list), "a list of events")
    kinds = {"+": "start", "-": "end"}
    names = [f"{kind} {int(w)}" for _, kind, w in found]
    wanted = [f"{kinds[w[-1]]} {w[:-1]}" for w in want.split()]
    check.equal(names, wanted, name="events")
    check.close([float(time) for time, _, _ in found], times, name="times")


with check.case(
    "the worked example, where nobody waits",
    hint="who starts at 0? when does a step end that began at 2, who is asked "
    "then, and when is all over?",
):
    want = "0+ 1+ 0- 0+ 1- 1+ 0- 1-"
    compare([[2, 2], [3, 1]], free, want, [0, 0, 2, 2, 3, 3, 4, 4])
with check.case(
    "the worked example, where all wait",
    hint="after every end all idle workers are asked, not only the one",
):
    want = "0+ 1+ 0- 1- 0+ 1+ 1- 0-"
    compare([[2, 2], [3, 1]], together, want, [0, 0, 2, 3, 3, 3, 4, 5])
with check.case(
    "three workers, each with seconds of its own",
    hint="the next event is the earliest end of all",
    essential=True,
):
    table = [[2, 1.25, 2.5], [3, 1.5, 0.25], [1, 4, 1]]
    want = "0+ 1+ 2+ 2- 2+ 0- 0+ 1- 1+ 0- 0+ 1- 1+ 1- 2- 2+ 0- 2-"
    times = [0, 0, 0, 1, 1, 2, 2, 3, 3, 3.25, 3.25, 4.5, 4.5, 4.75]
    compare(table, free, want, [*times, 5, 5, 5.75, 6])
    want = "0+ 1+ 2+ 2- 0- 1- 0+ 1+ 2+ 0- 1- 2- 0+ 1+ 2+ 1- 2- 0-"
    times = [0, 0, 0, 1, 2, 3, 3, 3, 3, 4.25, 4.5, 7, 7, 7, 7]
    compare(table, together, want, [*times, 7.25, 8, 9.5])
with check.case(
    "two ends at the same time",
    hint="one end, then all are asked; then the other end",
):
    want = "0+ 1+ 0- 0+ 1- 1+ 0- 1-"
    compare([[1, 1], [1, 1]], free, want, [0, 0, 1, 1, 1, 1, 2, 2])
### BEGIN HIDDEN TESTS


def beside(worker, clocks):
    """Wait for both neighbours in a ring."""
    left, right = clocks[worker - 1], clocks[(worker + 1) % len(clocks)]
    return clocks[worker] <= min(left, right)


def never(worker, clocks):
    """Nobody ever starts."""
    return False


def to_spare(worker, clocks):
    """Return how many steps one may still go ahead: 0 is no, 1 is yes."""
    return 1 + min(clocks) - clocks[worker]


def three_in_all(worker, clocks):
    """Start only while fewer than three steps have ended, by anybody."""
    return sum(clocks) < 3


def played(table, rule):
    """Return the events of the text, by looking at all workers each time."""
    table = np.asarray(table, float)
    workers, steps = table.shape
    clocks, until, events = [0] * workers, [None] * workers, []
    now = 0.0
    while True:
        for w in range(workers):
            free = until[w] is None and clocks[w] < steps
            if free and rule(w, clocks):
                events.append((now, "start", w))
                until[w] = now + table[w, clocks[w]]
        busy = [w for w in range(workers) if until[w] is not None]
        if not busy:
            return events
        w = min(busy, key=lambda w: until[w])
        now, until[w] = until[w], None
        clocks[w] += 1
        events.append((now, "end", w))


def expect(table, rule):
    """Compare with what the text says of this table."""
    want = played(table, rule)
    signs = {"start": "+", "end": "-"}
    said = " ".join(f"{w}{signs[kind]}" for _, kind, w in want)
    compare(table, rule, said, [time for time, _, _ in want])


with check.hidden_case(
    "a rule that looks at neighbours only",
    hint="who may not start now is asked again after the next end of anybody",
    essential=True,
):
    expect(np.random.default_rng(1).uniform(0.5, 3, (5, 6)), beside)
with check.hidden_case(
    "the order of the numbers",
    hint="lower numbers first: at an end, and when they are asked",
):
    expect([[1, 2, 1], [1, 1, 1], [2, 1, 1]], free)
    expect([[1, 2, 1], [1, 1, 1], [2, 1, 1]], together)
    expect([[3, 1], [2, 1], [1, 1], [1, 1]], together)
    expect(np.ones((12, 2)), together)
with check.hidden_case(
    "a rule that answers with a number",
    hint="what does `if` take for true?",
    weight=0.5,
):
    expect(np.random.default_rng(3).uniform(0.5, 3, (3, 5)), to_spare)
with check.hidden_case(
    "who is asked, when, and with which clocks",
    hint="idle workers with a step left, each once; `clocks` is a list",
):
    asked = []

    def nosy(worker, clocks):
        kind = type(clocks).__name__
        asked.append((int(worker), kind, [int(clock) for clock in clocks]))
        return beside(worker, clocks)

    five_by_four = np.random.default_rng(4).uniform(0.5, 3, (5, 4))
    simulate(five_by_four, nosy)
    by_student, asked = asked, []
    played(five_by_four, nosy)
    check.equal(by_student, asked, name="asked")
with check.hidden_case(
    "a clock has grown before anybody is asked",
    hint="first the clock, then the questions, after each end",
):
    expect([[1, 1, 1], [1, 1, 1]], three_in_all)
    expect([[1, 5, 1], [2, 1, 1], [4, 1, 1]], three_in_all)
with check.hidden_case(
    "nobody starts, nobody is there, nothing is to do",
    hint="it is over when nobody is at work",
):
    expect([[1, 2], [3, 4]], never)
    expect(np.ones((0, 4)), free)
    expect(np.ones((3, 0)), free)
    expect([[0.25]], free)
    expect([[0.25, 7]], together)
with check.hidden_case(
    "many short steps, and whole seconds of any kind",
    hint="times add up; do not round them",
):
    expect(np.random.default_rng(2).uniform(0.001, 0.01, (2, 60)), free)
    expect(np.array([[3, 1, 2], [1, 1, 4]], np.int32), together)
    expect(np.array([[0.1, 0.2], [0.3, 0.4]], np.float32), free)
with check.hidden_case(
    "two simulations; the table and the first events stay as they were",
    hint="keep nothing from an earlier call",
    guard=True,
):
    table = np.array([[2.0, 2], [3, 1]])
    with check.unchanged(durations=table):
        first = simulate(table, free)
    expect(table + 1, together)
    check.separate(simulate(table + 1, free), first)
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 4. How far ahead, and how stale (2 points)
#
# *Stale-synchronous* training (Ho et al. 2013) lets a worker run ahead, but not too far.
# `within(worker, clocks, slack)` returns `True` if the worker's clock is at most `slack` above the lowest of all clocks, else `False`.
# Slack 0 is synchronous training; an infinite slack (`math.inf`) is asynchronous.
# In a simulation, `partial(within, slack=3)` is the rule.
#
# `staleness(events)` says how old the weights are that gradients come from.
# A worker reads the weights when it starts; its gradient changes them when it ends.
# The *staleness* of a gradient is how many gradients of others came in between:
# for every end, in their order, count the ends of others since the *latest* start of that worker.
# Return a list of integers.

# %% [markdown]
# ![Two workers and the versions of the weights. Worker 1 reads version 0. While it computes, worker 0 delivers two gradients, and the weights become versions 1 and 2. Worker 1's gradient, made of version 0, arrives at version 2: its staleness is 2.](figures/staleness.svg)
#
# For the events of Task 3's worked example (nobody waits) it is `[0, 1, 1, 1]`:
# the last end is worker 1's, which started at 3, and since then worker 0 has ended once.
#
# * Of events at the same time the order in the list decides.
# * A worker may start again without having ended: its earlier start is void.
# * Between two ends of a worker there is always a start.
#
# 1 line and about 7 lines.


# %% nbgrader={"grade_id": "staleness", "solution": true}
def within(worker: int, clocks: list[int], slack: float) -> bool:
    """Return whether a worker is at most `slack` steps ahead."""
    ### BEGIN SOLUTION
    return clocks[worker] - min(clocks) <= slack
    ### END SOLUTION


def staleness(events: list[tuple]) -> list[int]:
    """Return how many ends of others each end comes after."""
    ### BEGIN SOLUTION
    ended, seen, found = 0, {}, []
    for _, kind, worker in events:
        if kind == "start":
            seen[worker] = ended
        else:
            found.append(ended - seen[worker])
            ended += 1
    return found
    ### END SOLUTION


# %% nbgrader={"grade_id": "staleness-check", "grade": true, "points": 2}
import math

import numpy as np

from labkit import check


def events_of(text):
    """Return events from words: "0+" is a start of worker 0, "0-" its end."""
    kinds = {"+": "start", "-": "end"}
    words = text.split()
    return [(t / 2, kinds[w[-1]], int(w[:-1])) for t, w in enumerate(words)]


def expect(text, want):
    """Compare the staleness of every end."""
    found = staleness(events_of(text))
    whole = all(np.asarray(number).dtype.kind in "iu" for number in found)
    check.true(isinstance(found, list) and whole, "a list of integers")
    check.equal([int(number) for number in found], want, name="staleness")


def expect_within(clocks, slack, want):
    """Compare what each worker may do."""
    found = [within(w, list(clocks), slack) for w in range(len(clocks))]
    said = all(isinstance(answer, (bool, np.bool_)) for answer in found)
    check.true(said, "True or False")
    check.equal([bool(answer) for answer in found], want, name="may start")


with check.case(
    "slack 0 and slack 1",
    hint="compare with the lowest clock of all",
):
    expect_within([4, 3, 3], 0, [False, True, True])
    expect_within([4, 3, 5, 4], 1, [True, True, False, True])
with check.case(
    "the worked example",
    hint="count ends of others between a worker's start and its end",
):
    expect("0+ 1+ 0- 0+ 1- 1+ 0- 1-", [0, 1, 1, 1])
with check.case(
    "one slow worker among three",
    hint="all ends since its start count, by whomever",
    essential=True,
):
    expect("0+ 1+ 2+ 1- 1+ 2- 1- 2+ 1+ 0- 1- 2-", [0, 1, 1, 3, 1, 2])
### BEGIN HIDDEN TESTS
with check.hidden_case(
    "no limit, one worker, a large slack",
    hint="a worker alone is never ahead; infinity is a number, too",
):
    expect_within([90, 0, 7], math.inf, [True, True, True])
    expect_within([12], 0, [True])
    expect_within([90, 0, 7, 10, 11], 10, [False, True, True, True, False])
with check.hidden_case(
    "a slack that is not whole", hint="compare with slack as it is"
):
    expect_within([4, 7, 6, 4], 2.5, [True, False, True, True])
    expect_within([1, 0], 0.5, [False, True])
    expect_within([4, 1], 3 - 1e-9, [False, True])
with check.hidden_case(
    "one's own ends do not count",
    hint="a worker alone always has the newest weights",
):
    expect("0+ 0- 0+ 0- 0+ 0-", [0, 0, 0])
    expect("", [])
    expect("0+ 1+", [])
with check.hidden_case(
    "a step that was given up",
    hint="the latest start of the worker counts",
):
    expect("0+ 1+ 2+ 0- 1- 0+ 1+ 2+ 2- 0- 0+ 1+ 2+ 1-", [0, 1, 0, 1, 0])
with check.hidden_case(
    "in the order of the list, whatever the times",
    hint="at the same time, what stands first has happened first",
):
    order = "4+ 2+ 4- 4+ 2- 2+ 4- 4+ 2- 2+"
    same = [(7.0, kind, worker) for _, kind, worker in events_of(order)]
    found = [int(number) for number in staleness(same)]
    check.equal(found, [0, 1, 1, 1], name="staleness")
with check.hidden_case(
    "a hundred workers in turn",
    hint="the workers' numbers are only names",
):
    turn = list(range(100, 200))
    begin = " ".join(f"{w}+" for w in turn)
    rest = " ".join(f"{w}- {w}+" for w in turn * 2)
    expect(f"{begin} {rest}", list(range(100)) + [99] * 100)
with check.hidden_case(
    "the arguments stay as they were, and so does an earlier result",
    hint="change nothing that was handed over, or handed back",
    guard=True,
):
    clocks, events = np.array([3, 1, 2]), events_of("0+ 1+ 0- 1-")
    with check.unchanged(clocks=clocks, events=events):
        within(0, clocks, 1)
        first = staleness(events)
    check.separate(staleness(events[:3]), first)
### END HIDDEN TESTS
check.score(2)

# %% explore=true
cluster_seconds = seconds_of(16, 400, seed=0)
slacks = {
    "slack 0 (synchronous)": 0,
    "slack 1": 1,
    "slack 3": 3,
    "slack 10": 10,
    "no limit (asynchronous)": math.inf,
}
print("16 workers      gradients a second  staleness: mean  largest  bound")
for title, slack in slacks.items():
    events = simulate(cluster_seconds, partial(within, slack=slack))
    stale = staleness(events)
    bound = 15 * (2 * slack + 1)
    print(
        f"{title:24} {rate_of(events, 300):9.2f} "
        f"{np.mean(stale):16.1f} {max(stale):8} {bound:6}"
    )
found, guess = np.mean(stale), predictions()["stale"]
print(f"stale: {found:.1f} without a limit, you predicted {guess:g}")

# %% [markdown]
# In synchronous training the last gradient of a round comes after 15 others,
# but nobody reads the weights in between: it is as if their sum had come at once.
# Without a limit the mean is about 15, and the largest far above: the gradient of a delayed step.
#
# A slack is a limit, the last column. With slack 1:
#
# | | my clock | the other's clock |
# |---|---|---|
# | I start a step | 5 | 4 |
# | it starts a last step, one ahead of me | 5 | 6 |
# | it ends that, and must wait | 5 | 7 |
#
# So each of 15 others ends at most $2\,\mathrm{slack} + 1$ steps during mine.

# %% [markdown]
# ### Look: who waits for whom
#
# The same seconds in four ways. White is waiting (or, late in a row, no step left).
# Find the long step of worker 1: what does each way do about it?


# %% folded=true nbgrader={"grade_id": "draw-gantt", "locked": true}
def bars_of(events, until):
    """Return (worker, start, length) of steps that ended, and of others."""
    began, done, lost = {}, [], []
    for now, kind, worker in events:
        if worker in began:  # it ends, or has given up
            bar = worker, began[worker], now - began.pop(worker)
            (done if kind == "end" else lost).append(bar)
        if kind == "start":
            began[worker] = now
    lost += [(worker, now, until - now) for worker, now in began.items()]
    return done, lost


def draw_gantts(shown, until):
    """Draw lists of events under each other, each with its title."""
    import matplotlib.pyplot as plt

    rows, size = len(shown), (7.5, 7)
    figure, axes = plt.subplots(
        rows, sharex=True, figsize=size, layout="constrained"
    )
    names = "work that counts", f"thrown away, or cut off at {until} s"
    for ax, (title, events) in zip(axes, shown.items(), strict=True):
        for i, bars in enumerate(bars_of(events, until)):
            worker, start, length = np.reshape(bars, (-1, 3)).T
            look = {"color": plot.PALETTE[i], "edgecolor": "white"}
            ax.barh(worker, length, 0.76, start, label=names[i], **look)
        ended = sum(kind == "end" and time <= until for time, kind, _ in events)
        said = f"{title}: {ended} gradients in {until} s"
        ax.set_title(said, loc="left", fontsize=11, fontweight="bold")
        ax.set(xlim=(0, until), ylabel="worker", yticks=range(4))
        ax.invert_yaxis()
    axes[-1].set_xlabel("virtual seconds")
    both = axes[-1].get_legend_handles_labels()
    figure.legend(*both, loc="outside lower center", ncols=2)
    plt.show()


# %% explore=true
few = seconds_of(4, 14, seed=4, share=0.15)
shown = {
    "Synchronous": simulate(few, partial(within, slack=0)),
    "Stale-synchronous, slack 2": simulate(few, partial(within, slack=2)),
    "Asynchronous": simulate(few, always),
    "Backup workers: three of four": backup_workers(few, 3),
}
draw_gantts(shown, until=14)

# %% [markdown]
# Synchronous workers all stand still until the long step ends, with a slack they go on for a while,
# asynchronous ones do not notice, and backup workers throw it away.

# %% folded=true nbgrader={"grade_id": "talk", "locked": true}
# Nothing to read: what the checks of Tasks 5 and 6 call.


def talk(server, calls, gradients):
    """Call pull ("3+") or push ("3-"); return (weights, pulled) at the end.

    All gradients come from one array, which is overwritten afterwards.
    """
    pulled, array = [], np.empty_like(gradients[0])
    rest = iter(gradients)
    for call in calls.split():
        worker = int(call[:-1])
        if call[-1] == "+":
            pulled.append(server.pull(worker))
        else:
            array[:] = next(rest)
            server.push(worker, array)
            array[:] = 99
    return np.array(server.weights), pulled


def scribble(weights):
    """Return weights and two pulls after an array was overwritten."""
    array = np.array(weights, np.float32)
    server = Server(array, 0.5)
    server.pull(4)[:] = 7
    array[:] = 7
    again = np.array([server.pull(5), server.pull(4)])
    return np.array(server.weights), again


class Above:
    """A parent with rate 1 that keeps a log."""

    def __init__(self, weights):
        self.weights, self.log = np.array(weights, np.float32), []

    def pull(self, name):
        """Return a copy of the weights."""
        self.log.append(("pull", name, np.zeros(0)))
        return self.weights.copy()

    def push(self, name, gradient):
        """Step down a gradient."""
        self.log.append(("push", name, np.array(gradient)))
        self.weights = self.weights - gradient


def through(weights, nodes, calls, gradients, stacked=0):
    """Return (log, pulled) for nodes of {name: every}, calls "NAME:WORKER+".

    stacked: another node, of so many gradients, between the nodes and Above.
    """
    above, pulled = Above(weights), []
    parent = Node(above, 77, stacked) if stacked else above
    below = {name: Node(parent, name, every) for name, every in nodes.items()}
    array, rest = np.empty_like(gradients[0]), iter(gradients)
    for call in calls.split():
        name, _, worker = call[:-1].partition(":")
        if call[-1] == "+":
            pulled.append(below[int(name)].pull(int(worker)))
        else:
            array[:] = next(rest)
            below[int(name)].push(int(worker), array)
            array[:] = 99
    return above.log, [np.array(each) for each in pulled]


def scribble_below(weights):
    """Return what is pulled after another worker has overwritten its array."""
    node = Node(Above(weights), 3, 2)
    node.pull(0)[:] = 7
    return np.array(node.pull(1))


# %% [markdown]
# ## What stale gradients do to learning
#
# ### Task 5. A server that knows staleness (2 points)
#
# `Server(weights, rate, aware=False)` holds the weights, a vector of float32. `rate` is a Python float.
#
# * `pull(worker)` returns them, for the worker to compute with: an array of its own,
#   which no later `push` changes, and which the worker may overwrite.
# * `push(worker, gradient)` subtracts `rate` times the gradient, a vector of float32, from the weights; it returns nothing.
#   If `aware` is true, `rate / (1 + s)` takes the place of `rate`.
#   The staleness $s$ is how many times `push` has been called, by anybody, since this worker's latest `pull`.
# * `weights`, an attribute, is the vector as it is now, still float32.
#
# The array that was handed over at first, and the gradients, stay as they are; the caller may overwrite both afterwards.
# Each worker pulls before its first push.

# %% [markdown]
# With weights `[1, 1]`, rate 0.5 and `aware`: both of two workers pull. Worker 0 pushes `[1, 0]`: $s = 0$, the weights are `[0.5, 1]`.
# Worker 1 pushes `[0, 2]`: $s = 1$, so the rate is 0.25, and the weights are `[0.5, 0.5]`.
# If worker 1 pushes again without a new pull, $s$ is 2: its own push counts as well. About 10 lines.


# %% nbgrader={"grade_id": "server", "solution": true}
class Server:
    """A parameter server: holds the weights, and adds what arrives."""

    def __init__(self, weights, rate: float, aware: bool = False) -> None:
        ### BEGIN SOLUTION
        self.weights, self.rate, self.aware = weights.copy(), rate, aware
        self.pushes, self.seen = 0, {}
        ### END SOLUTION

    def pull(self, worker: int) -> np.ndarray:
        """Return the weights for a worker."""
        ### BEGIN SOLUTION
        self.seen[worker] = self.pushes
        return self.weights.copy()
        ### END SOLUTION

    def push(self, worker: int, gradient: np.ndarray) -> None:
        """Step down the gradient, less far if it is stale and that counts."""
        ### BEGIN SOLUTION
        stale = self.pushes - self.seen[worker] if self.aware else 0
        step = np.float32(self.rate / (1 + stale)) * gradient
        self.weights = self.weights - step
        self.pushes += 1
        ### END SOLUTION


# %% explore=true
for aware in (False, True):
    server = Server(np.ones(2, np.float32), 0.5, aware)
    pulled = server.pull(0), server.pull(1)
    server.push(0, np.array([1, 0], np.float32))
    server.push(1, np.array([0, 2], np.float32))
    print(f"aware {aware!s:5}: weights {server.weights.tolist()}")
    print("  pulled", *(weights.tolist() for weights in pulled))

# %% nbgrader={"grade_id": "server-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def vector(*values):
    """Return a vector."""
    return np.array(values, np.float32)


def played(begin, rate, aware, calls, gradients):
    """Return a server's weights at the end, and all that was pulled."""
    server = Server(vector(*begin), rate, aware)
    return talk(server, calls, np.array(gradients, np.float32))


def compare(found, want, title):
    """Compare two vectors, up to rounding."""
    check.close(found, want, rtol=2e-5, atol=1e-6, dtype="float32", name=title)


three = [[1, 0], [0, 2], [0.5, -1]]
with check.case(
    "the worked example, without staleness",
    hint="what does a new server hold? how far is a step without staleness, "
    "and what is it subtracted from?",
):
    weights, _ = played([1, 1], 0.5, False, "0+ 1+ 0- 1- 1-", three)
    compare(weights, [0.25, 0.5], "weights")
with check.case(
    "the worked example, aware",
    hint="does each pull note its worker, on this server? how many pushes "
    "came since?",
):
    weights, _ = played([1, 1], 0.5, True, "0+ 1+ 0- 1- 1-", three)
    compare(weights, [5 / 12, 2 / 3], "weights")
with check.case(
    "what has been pulled stays as it was",
    hint="is it an array of the worker's own?",
    essential=True,
):
    _, pulled = played([1, 1], 0.5, False, "0+ 1+ 0- 1+ 1- 0+ 0-", three)
    for number, want in enumerate(([1, 1], [1, 1], [0.5, 1], [0.5, 0])):
        title = f"what pull number {number} has returned, at the end"
        compare(pulled[number], want, title)
### BEGIN HIDDEN TESTS


def wanted(begin, rate, aware, calls, gradients):
    """Return what the text promises: weights at the end, and what is pulled."""
    weights, pulled, log, rest = np.array(begin, float), [], [], iter(gradients)
    for call in calls.split():
        if call[-1] == "+":
            pulled.append(weights.copy())
        else:
            since = log[::-1].index(call[:-1] + "+")
            stale = sum(entry[-1] == "-" for entry in log[::-1][:since])
            share = rate / (1 + stale) if aware else rate
            weights = weights - share * np.asarray(next(rest), float)
        log.append(call)
    return weights, pulled


def expect(begin, rate, aware, calls, gradients, *parts):
    """Compare with the text a server's weights, or what is pulled."""
    begin, gradients = vector(*begin), np.array(gradients, np.float32)
    found, pulled = played(begin, rate, aware, calls, gradients)
    want, all_pulled = wanted(begin, rate, aware, calls, gradients)
    if "weights" in parts:
        compare(found, want, "weights")
    for at, each in enumerate(all_pulled if "pulled" in parts else []):
        compare(pulled[at], each, f"pull number {at}, at the end")


some = np.random.default_rng(8).normal(size=(9, 6))
order = "0+ 1+ 2+ 1- 1+ 1- 1+ 2- 2+ 0- 0+ 2- 1- 2+ 0- 0- 2-"
with check.hidden_case(
    "three workers, one of them slow",
    hint="each worker has its own latest pull",
    essential=True,
):
    expect(some[0], 0.1, True, order, some, "weights", "pulled")
with check.hidden_case(
    "a worker that pulls twice before it pushes",
    hint="which of its pulls is the latest?",
    weight=0.5,
):
    twice = "0+ 1+ 1- 0+ 1+ 0- 1- 1+ 0+ 1+ 0- 1-"
    expect(some[0], 0.1, True, twice, some, "weights")
with check.hidden_case(
    "three workers, and all count alike",
    hint="without aware the staleness does not matter",
):
    expect(some[0], 0.1, False, order, some, "weights", "pulled")
    plain = Server(vector(1, 1), 0.5)
    found, _ = talk(plain, "0+ 1+ 0- 1-", np.array(three, np.float32))
    check.close(found, [0.5, 0], name="weights of Server(weights, rate)")
with check.hidden_case(
    "a worker may overwrite what it has pulled, and the caller its array",
    hint="hand out copies, and keep one",
):
    held, again = scribble([1, 2, 3])
    check.close(held, [1, 2, 3], dtype="float32", name="weights")
    check.close(again[0], [1, 2, 3], dtype="float32", name="pulled by another")
    check.close(again[1], [1, 2, 3], dtype="float32", name="pulled once more")
with check.hidden_case(
    "two servers",
    hint="what stands in the class is shared by both",
):
    one, two = Server(vector(1, 1), 1.0, True), Server(vector(5), 0.5, True)
    two.pull(0)
    one.pull(0)
    given_back = one.push(0, vector(1, 0))
    check.true(given_back is None, "push returns nothing")
    one.pull(0)
    two.push(0, vector(2))
    check.close(one.weights, [0, 1], dtype="float32", name="the first")
    check.close(two.weights, [4], dtype="float32", name="the second")
with check.hidden_case(
    "weights and gradients that were handed over stay as they were",
    hint="subtract into a new array, or from your own copy",
    guard=True,
):
    ones, pushed = vector(1, 1), vector(0.5, 2)
    with check.unchanged(weights=ones, gradient=pushed):
        server = Server(ones, 0.5)
        server.pull(0)
        server.push(0, pushed)
    check.close(server.weights, [0.75, 0], name="weights")
with check.hidden_case(
    "no weights, one weight, many workers",
    hint="any number of workers, of weights too",
):
    expect([], 0.5, True, "0+ 0-", [[]], "weights", "pulled")
    expect([2], 0.5, True, "7+ 7- 7+ 7-", [[1], [1]], "weights", "pulled")
    turn = " ".join(f"{w}+" for w in range(30))
    turn += " " + " ".join(f"{w}-" for w in range(30))
    expect([4], 0.25, True, turn, [[1]] * 30, "weights")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Given: a network, and training along a list of events
#
# A small network for digits has 64 inputs, 32 ReLU and 10 classes.
# `replay(events, server, until)` trains it along your events: at a start the worker pulls,
# at an end it pushes the gradient of 16 images, made of what it pulled.
# So time is virtual, but the learning is real. A start and an end are a message each.
#
# An accuracy below is the mean of a training's last three readings.
# When a training reaches 85 % depends on luck: compare all three seeds of a row.

# %% folded=true nbgrader={"grade_id": "network", "locked": true}
SHAPES = [(64, 32), (32,), (32, 10), (10,)]
SIZE = sum(math.prod(shape) for shape in SHAPES)


def parts_of(weights):
    """Return the vector's four parts, w1, b1, w2, b2, in their shapes."""
    ends = np.cumsum([math.prod(shape) for shape in SHAPES])[:-1]
    parts = np.split(weights, ends)
    return [p.reshape(shape) for p, shape in zip(parts, SHAPES, strict=True)]


def start(seed):
    """Return random weights, as one vector."""
    draw = np.random.default_rng(seed)
    scales = [(2 / 64) ** 0.5, 0, (2 / 32) ** 0.5, 0]
    parts = [
        size * draw.standard_normal(shape).ravel()
        for size, shape in zip(scales, SHAPES, strict=True)
    ]
    return np.concatenate(parts).astype(np.float32)


# %% folded=true nbgrader={"grade_id": "gradient", "locked": true}
def accuracy(weights):
    """Return the share of validation images whose class is found."""
    w1, b1, w2, b2 = parts_of(weights)
    scores = np.maximum(x_validation @ w1 + b1, 0) @ w2 + b2
    return float(np.mean(scores.argmax(axis=1) == y_validation))


def gradient(weights, x, y):
    """Return the mean cross-entropy's gradient, as one vector."""
    w1, b1, w2, b2 = parts_of(weights)
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    d_scores = e / e.sum(axis=1, keepdims=True)
    d_scores[np.arange(len(y)), y] -= 1
    d_scores /= len(y)
    d_hidden = (d_scores @ w2.T) * (hidden > 0)
    found = x.T @ d_hidden, d_hidden.sum(0), hidden.T @ d_scores
    flat = [part.ravel() for part in (*found, d_scores.sum(0))]
    return np.concatenate(flat).astype(np.float32)


def some_gradient(weights, draw, images=16):
    """Return the gradient of a random minibatch."""
    batch = draw.integers(len(y_train), size=images)
    return gradient(weights, x_train[batch], y_train[batch])


# %% nbgrader={"grade_id": "replay", "locked": true}
SECONDS = 100


def replay(events, server, until, seed=0, every=4.0):
    """Train along the events; return times and accuracies."""
    draw, held, curve, shown = np.random.default_rng([seed, 1]), {}, [], 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for time, kind, worker in [*events, (until, "stop", 0)]:
            while shown <= min(time, until):
                curve.append((shown, accuracy(server.weights)))
                shown += every
            if time > until or kind == "stop":
                break
            if kind == "start":
                held[worker] = server.pull(worker)
            else:
                server.push(worker, some_gradient(held[worker], draw))
    times, accuracies = np.array(curve).T
    return times, accuracies


# %% [markdown]
# ### Experiment 1. Accuracy against virtual time
#
# Four ways, sixteen workers; three trainings of each, with delays drawn anew for each seed.
# Every gradient counts a sixteenth of a rate of 0.5: the sum of a synchronous round is then a step at 0.5.
# Synchronous training will be last. Who is second, and how far behind the first? Write it down.


# %% explore=true
def ways(seconds):
    """Return the events of four ways."""
    return {
        "synchronous": simulate(seconds, partial(within, slack=0)),
        "slack 3": simulate(seconds, partial(within, slack=3)),
        "14 of 16": backup_workers(seconds, 14),
        "asynchronous": simulate(seconds, always),
    }


modes = [ways(seconds_of(16, 400, seed)) for seed in range(3)]

# %% explore=true
learned, errors, spread = {}, {}, {}
for name in modes[0]:
    learned[name] = [
        replay(events[name], Server(start(seed), 0.5 / 16), SECONDS, seed)
        for seed, events in enumerate(modes)
    ]
    wrong = 1 - np.array([shares for _, shares in learned[name]])
    errors[name] = learned[name][0][0], wrong.mean(axis=0)
    spread[name] = np.array([wrong.min(axis=0), wrong.max(axis=0)])
(ax,) = plot.panels(1, stacked=True)
ax.figure.set_size_inches(7.5, 4.2)
plot.curves(
    errors,
    spread={name: spread[name] for name in ("synchronous", "asynchronous")},
    title="Four ways to wait (mean of three, two with range)",
    xlabel="virtual seconds",
    ylabel="validation error",
    logy=True,
    ax=ax,
)
ax.axhline(0.15, color="0.4", linestyle=":", linewidth=1)  # 85 %
ax.legend(fontsize=9)
_ = ax.set(xlim=(0, SECONDS), ylim=(0.05, 0.5))

# %% explore=true
print(f"{'':14} gradients   accuracy   messages  seconds to 85 %,")
print(f"{'':14} in {SECONDS} s    of these   of these  three trainings")
for name, found in learned.items():
    ends = np.mean([rate_of(run[name], SECONDS) for run in modes]) * SECONDS
    sent = np.mean([sum(t <= SECONDS for t, _, _ in r[name]) for r in modes])
    last = np.mean([shares[-3:] for _, shares in found])
    reached = [
        f"{times[np.argmax(shares >= 0.85)]:.0f}"
        if max(shares) >= 0.85
        else "never"
        for times, shares in found
    ]
    print(
        f"{name:14} {ends:9.0f} {last:10.3f} {sent:10.0f}  {', '.join(reached)}"
    )

# %% [markdown]
# The ways differ most in how many gradients they get done.
# Over ten seeds (`docs/claims.md`) plain synchronous training takes about twice as long to 85 % (the dotted line)
# as asynchronous training or backup workers do.
# It is *waiting* that costs, not agreeing: backup workers agree at every step as well.

# %% [markdown]
# ### Experiment 2. A rate that synchronous training bears
#
# In DistBelief (Dean et al. 2012), the asynchronous parameter server that D cites,
# every worker's gradient is a step of its own. Why divide its rate by sixteen?
# The counter-experiment: each gradient with the full 0.5. The first two rows you know; guess the others before you run it.

# %% explore=true
tries = {
    "synchronous, 0.5 for the mean of 16": ("synchronous", 0.5 / 16, False),
    "asynchronous, 0.5 / 16 for each": ("asynchronous", 0.5 / 16, False),
    "asynchronous, 0.5 for each": ("asynchronous", 0.5, False),
    "asynchronous, 0.5 / (1 + staleness)": ("asynchronous", 0.5, True),
}
for title, (name, rate, aware) in tries.items():
    server = Server(start(0), rate, aware)
    _, shares = replay(modes[0][name], server, SECONDS)
    w1, b1, *_ = parts_of(server.weights)
    alive = np.mean(x_validation @ w1 + b1 > 0)
    print(f"{title:36} {shares[-3:].mean():.3f}, ReLUs above 0: {alive:.0%}")

# %% [markdown]
# With the full rate nothing is learned: fifteen others have moved the weights since they were read,
# each as far as a step may go, and mostly in the same direction.
# A tenth is what one class for all images earns: no hidden unit answers to an image any more, and none has a gradient that would bring it back.
# The rate that knows staleness finds the sixteenth by itself.

# %% [markdown]
# ## D or B?
#
# ### Experiment 3. With delays, and without
#
# The next cell gives every way the better of two rates, and measures the virtual seconds to 85 %:
# once on a cluster with the delays of this lab,
# and once on machines that are all alike, with 10 % of spread and nothing else.
# The tables are new ones, and a reading is now the mean of three, one every 2 s.
# The written question below asks for these numbers. Who wins where all are alike?


# %% explore=true
def seconds_to(events, goal=0.85, seed=0, until=200):
    """Return the virtual seconds to an accuracy, and the better of two rates.

    inf: not within `until` seconds.
    """
    for end in (60, until):  # few need the whole
        reached = []
        for rate in (0.5, 1.0):
            server = Server(start(seed), rate / 16)
            times, shares = replay(events, server, end, seed, every=2.0)
            smooth = np.convolve(shares, np.ones(3) / 3, "valid")
            hit = np.flatnonzero(smooth >= goal)
            reached.append(times[hit[0] + 2] if len(hit) else math.inf)
        if min(reached) < math.inf:
            break
    return min(reached), (0.5, 1.0)[int(np.argmin(reached))]


# %% explore=true
clusters = {"with delays": 0.05, "all alike": 0.0}
verdict = {}  # by cluster and way, three seeds each
for title, share in clusters.items():
    for seed in range(3):
        for name, events in ways(seconds_of(16, 250, seed, share)).items():
            found = rate_of(events, 150), *seconds_to(events, seed=seed)
            verdict.setdefault((title, name), []).append(found)
panels = plot.panels(2)
for ax, title in zip(panels, clusters, strict=True):
    took = {
        name: np.minimum(200, [s for _, s, _ in found])  # 200: not reached
        for (of, name), found in verdict.items()
        if of == title
    }
    plot.bars(
        {name: each.mean() for name, each in took.items()},
        runs=list(took.values()),
        fmt=".0f",
        title=f"{title.capitalize()}: mean and three seeds",
        ylabel="virtual seconds to 85 %",
        ax=ax,
    )
    for text in ax.texts:  # the mean, into its bar
        text.xy = text.xy[0], 0
        text.set(color="white", fontweight="bold")
top = max(ax.get_ylim()[1] for ax in panels)
panels[0].set_ylim(0, top)
panels[1].set(ylim=(0, top), ylabel="")
ax.figure.set_size_inches(9, 3.6)

# %% explore=true
print("gradients a second, and the better rate of each seed")
for (title, name), found in verdict.items():
    rates, _, best = np.transpose(found)
    each = " ".join(f"{rate:g}" for rate in best)
    print(f"{title:12} {name:14} {rates.mean():6.1f}    {each}")

# %% [markdown]
# * **With delays** asynchronous training reaches 85 % in about half the time of plain synchronous training: D is right.
#   But backup workers are about as fast, and agree at every step.
# * **All alike**, not waiting brings a fifth more gradients a second, and yet more seconds to 85 %:
#   what is gained in gradients is lost to staleness.
# * **A slack of 3** then hardly ever stops anybody: it is nearly the same run as asynchronous training.
#
# Where the better rate is 1, a larger one might have needed fewer seconds.
#
# DistBelief was made for thousands of machines, some of which are always slow or down;
# B's supercomputers have equal nodes, which one job has to itself. Each was right about its own.
# And a synchronous run can be repeated, and its rate carried over to another number of workers (lab 12).
#
# **Here the first sitting ends.**

# %% [markdown]
# ## Fewer messages over slow links
#
# ### Task 6. A server on two levels (2 points)
#
# MXNet's key-value store (*talk C*) has a server in each machine and one above all (B: a hierarchical parameter server).
# Few messages cross the slow network.
#
# ![One server above three machines. In each machine a node, and below it three workers. Workers speak with the node of their machine; only nodes speak with the server, over the slow network.](figures/levels.svg)
#
# `Node(parent, name, every)`, a machine's server, is a worker to its parent:
#
# * When it is made, it calls `parent.pull(name)` once, and keeps what it gets as its weights.
# * `pull(worker)` returns them: an array of the worker's own, as in Task 5.
# * `push(worker, gradient)` collects. With every `every`-th gradient, whoever's, it calls `parent.push(name, mean)` with the mean of these,
#   then `parent.pull(name)`, once, and has new weights. It returns nothing.

# %% [markdown]
# In between nothing goes to the parent, and the weights stay as they are.
# A worker may overwrite the array of its gradient afterwards. Gradients are float32, and so is their mean.
# A parent is any object with `pull` and `push`, so also a `Node`: levels can be stacked.
#
# Example: the parent is at `[4]` and steps with rate 1, `every` = 2. After pushes of `[1]` and `[3]` the parent has been given `[2]`,
# and the node has `[2]`. About 11 lines.


# %% nbgrader={"grade_id": "node", "solution": true}
class Node:
    """A server between some workers and a parent."""

    def __init__(self, parent, name: int, every: int) -> None:
        ### BEGIN SOLUTION
        self.parent, self.name, self.every = parent, name, every
        self.weights, self.waiting = parent.pull(name), []
        ### END SOLUTION

    def pull(self, worker: int) -> np.ndarray:
        """Return the node's weights for a worker."""
        ### BEGIN SOLUTION
        return self.weights.copy()
        ### END SOLUTION

    def push(self, worker: int, gradient: np.ndarray) -> None:
        """Collect a gradient; hand on the mean of every so many."""
        ### BEGIN SOLUTION
        self.waiting.append(gradient.copy())
        if len(self.waiting) == self.every:
            self.parent.push(self.name, np.mean(self.waiting, axis=0))
            self.weights, self.waiting = self.parent.pull(self.name), []
        ### END SOLUTION


# %% explore=true
top = Server(np.array([4], np.float32), 1.0)
node = Node(top, name=0, every=2)
for worker, number in ((0, 1), (1, 3), (0, 5)):
    node.push(worker, np.array([number], np.float32))
    print(f"after {number}: server {top.weights}, node {node.pull(0)}")

# %% nbgrader={"grade_id": "node-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


def close(found, want, title):
    """Compare lists of vectors, one by one, up to rounding."""
    check.equal(len(found), len(want), name=f"how often: {title}")
    near = {"rtol": 2e-5, "atol": 1e-6, "dtype": "float32"}
    for number, each in enumerate(want):
        check.close(found[number], each, name=f"{title}, {number}", **near)


def compare(log, pulled, want, *parts):
    """Compare what the parent is asked, what it is given, or what is pulled."""
    if "log" in parts:
        asked = [(kind, int(name)) for kind, name, _ in log]
        check.equal(asked, [entry[:2] for entry in want[0]], name="asked")
    if "means" in parts:
        given = [values for kind, _, values in log if kind == "push"]
        means = [values for kind, _, values in want[0] if kind == "push"]
        close(given, means, "push to the parent")
    if "pulled" in parts:
        close(pulled, want[1], "what a pull has returned, at the end")


pair = "0:0+ 0:0- 0:1+ 0:1- 0:0+ 0:0-"
three = np.array([[1], [3], [5]], np.float32)
log = [("pull", 0, []), ("push", 0, [2]), ("pull", 0, [])]
small = log, [[4], [4], [2]]
with check.case(
    "the worked example: what the parent is asked",
    hint="one pull at first, then a push and a pull for every second gradient",
):
    asked, pulled = through([4], {0: 2}, pair, three)
    compare(asked, pulled, small, "log")
with check.case(
    "the worked example: what is sent up",
    hint="the mean of the gradients, as they were when they came",
    essential=True,
):
    asked, pulled = through([4], {0: 2}, pair, three)
    compare(asked, pulled, small, "means")
with check.case(
    "the worked example: what workers pull",
    hint="is the case above right? what does pull return on every path, and "
    "when do new weights come?",
):
    asked, pulled = through([4], {0: 2}, pair, three)
    compare(asked, pulled, small, "pulled")
### BEGIN HIDDEN TESTS


def wanted(weights, nodes, calls, gradients):
    """Return the log and the weights pulled that the text promises."""
    top, log, pulled, rest = np.array(weights, float), [], [], iter(gradients)
    held = dict.fromkeys(nodes, top)
    waiting = {name: [] for name in nodes}
    log += [("pull", name, []) for name in nodes]
    for call in calls.split():
        name = int(call.partition(":")[0])
        if call[-1] == "+":
            pulled.append(held[name])
            continue
        waiting[name].append(np.array(next(rest), float))
        if len(waiting[name]) == nodes[name]:
            mean = sum(waiting[name]) / nodes[name]
            top, waiting[name] = top - mean, []
            log += [("push", name, mean), ("pull", name, [])]
            held[name] = top
    return log, pulled


def expect(weights, nodes, calls, gradients, *parts):
    """Compare with the text."""
    gradients = np.array(gradients, np.float32)
    want = wanted(weights, nodes, calls, gradients)
    asked, pulled = through(weights, nodes, calls, gradients)
    compare(asked, pulled, want, *parts)


some = np.random.default_rng(9).normal(size=(14, 5))
busy = (
    "4:0+ 2:0+ 4:1+ 4:0- 2:1+ 4:0- 4:0+ 2:1- 4:1- 4:1+ 2:0- 2:0+ "
    "4:1- 4:0- 2:0- 2:0+ 4:0- 4:0+ 2:1- 2:1- 2:0- 4:0+ 2:0+"
)
with check.hidden_case(
    "two nodes below one parent",
    hint="each node collects for itself, and has its own name",
    essential=True,
):
    for nodes in ({4: 3, 2: 2}, {2: 4, 4: 2}):
        expect(some[0], nodes, busy, some, "log", "means", "pulled")
with check.hidden_case(
    "every single gradient, and more than there are",
    hint="every may be 1; what is not complete is not sent",
):
    expect(some[1], {4: 1, 2: 9}, busy, some, "log", "means", "pulled")
    expect([2, 1], {0: 3}, "0:0+ 0:0+", [[0, 0]], "log", "pulled")
with check.hidden_case(
    "three gradients, again and again",
    hint="begin to collect anew after each push",
):
    turn = " ".join(f"0:{w}- 0:{w}+" for w in (5, 1, 5) * 3)
    many = np.random.default_rng(10).normal(size=(9, 3))
    expect(many[0], {0: 3}, turn, many, "log", "means", "pulled")
with check.hidden_case(
    "a node below a node",
    hint="a parent is anything with pull and push",
):
    calls = " ".join(f"{w % 2}:0-" for w in range(8))
    eight = np.arange(16, dtype=np.float32).reshape(8, 2)
    log, _ = through([0, 0], {0: 2, 1: 2}, calls, eight, stacked=2)
    check.equal([kind for kind, _, _ in log], ["pull"] + ["push", "pull"] * 2)
    for turn, part in ((1, eight[:4]), (3, eight[4:])):
        check.close(log[turn][2], part.mean(axis=0), name="mean of means")
with check.hidden_case(
    "a worker may overwrite what it has pulled",
    hint="hand out copies",
):
    found = scribble_below([1, 2])
    check.close(found, [1, 2], dtype="float32", name="pulled by another")
with check.hidden_case(
    "a gradient stays as it was",
    hint="add into an array of your own",
    guard=True,
):
    sent_up = np.array([1, 2], np.float32)
    node = Node(Above([1.0, 2]), 3, 2)
    with check.unchanged(gradient=sent_up):
        node.push(0, sent_up)
        given_back = node.push(0, sent_up)
    check.true(given_back is None, "push returns nothing")
    check.close(node.pull(1), [0, 0], name="pulled")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Experiment 4. What crosses the network
#
# Sixteen asynchronous workers in four machines of four; between machines the network is slow.
# A mean of `every` gradients stands for all of them, so the upper server's rate is `every` times as large:
# the mean then goes as far as its gradients would alone.
# Messages are counted between machines only.
# Which share of that rate do means of 16 bear: all of it, a half, a quarter, an eighth, a sixteenth? Guess first.


# %% explore=true
class Counted:
    """A server whose messages are counted: each pull and each push is one."""

    def __init__(self, server):
        self.server, self.messages, self.readings = server, 0, []

    @property
    def weights(self):
        self.readings.append(self.messages)  # `replay` reads to test
        return self.server.weights

    def pull(self, worker):
        self.messages += 1
        return self.server.pull(worker)

    def push(self, worker, found):
        self.messages += 1
        self.server.push(worker, found)


# %% explore=true
class Machines:
    """Four nodes below one server; a worker speaks with its machine's."""

    def __init__(self, every, rate, seed=0):
        self.top = Counted(Server(start(seed), rate))
        self.nodes = [Node(self.top, m, every) for m in range(4)]

    weights = property(lambda self: self.top.weights)
    messages = property(lambda self: self.top.messages)
    readings = property(lambda self: self.top.readings)

    def pull(self, worker):
        return self.nodes[worker // 4].pull(worker)

    def push(self, worker, found):
        self.nodes[worker // 4].push(worker, found)


# %% explore=true
rates = np.array([2, 1, 0.5, 0.25, 0.125, 0.0625])
shares, sent = {}, {}
for every in (1, 4, 16):
    found = np.zeros((len(rates), 3))
    for k, rate in enumerate(rates):
        for seed, events in enumerate(modes):
            server = Machines(every, every * rate / 16, seed)
            _, curve = replay(events["asynchronous"], server, SECONDS, seed)
            found[k, seed] = curve[-3:].mean()
    shares[f"{every} in a mean"] = found.mean(axis=1)
    sent[f"{every} in a mean"] = server.messages
ax = plot.curves(
    {name: (rates, values) for name, values in shares.items()},
    title="The more in a mean, the smaller the best rate",
    xlabel="rate of a gradient, times 16",
    ylabel="accuracy, mean of three",
    logx=True,
)
for name, values in shares.items():
    best = int(np.argmax(values))
    ax.plot(rates[best], values[best], "*", color="black", markersize=12)
    said = f"best rate {rates[best]:g} / 16, accuracy {values[best]:.3f}"
    print(f"{name:13} {sent[name]:5} messages; {said}")

# %% [markdown]
# The best rate (a star on each line) moves to the left:
# the more gradients wait for one another, the older they are when they arrive, and up to 64 are on their way at once.
# At its best rate a fourth of the messages costs some four points of accuracy, a sixteenth twelve.
# Had you tried the largest rates only, means of sixteen would have seemed to learn next to nothing.

# %% [markdown]
# ## Weights of one's own
#
# From here on the scale at the top is orange: workers have weights of their own,
# which are tied to one another more or less loosely.
#
# ### Task 7. Gossip (2 points)
#
# In *gossip* there is no centre, and workers talk to a few neighbours only (Jin et al. 2016, in talk B):
# each takes a weighted mean of its own weights and its neighbours', $x' = W x$.
# If all rows and all columns of $W$ sum to 1 (*doubly stochastic*), the mean over all workers never changes,
# and everybody approaches it.
#
# `mixing(workers, edges)` returns such a matrix, `(workers, workers)`, for any topology.
# `edges` lists the pairs of neighbours `(a, b)`, $a \neq b$, each pair once, in either order; there may be none.
# With $d_a$ the number of neighbours of $a$:
#
# * for an edge, $W_{ab} = W_{ba} = \frac{1}{1 + \max(d_a, d_b)}$; without one, 0;
# * $W_{aa}$ is what the rest of its row lacks to 1.

# %% [markdown]
# `shrinks(matrix)` says how fast: the factor by which a round makes disagreement smaller, in the worst case.
# It is the second largest of the magnitudes of the matrix's eigenvalues (the largest is 1, and belongs to agreement).
# For a single worker it is 0. Two groups that never talk to one another keep their disagreement: 1. The matrix is symmetric.
#
# `mixing(3, [(0, 1), (1, 2)])` is `[[2/3, 1/3, 0], [1/3, 1/3, 1/3], [0, 1/3, 2/3]]`, and shrinks by 2/3.
# About 8 and 2 lines.


# %% nbgrader={"grade_id": "gossip", "solution": true}
def mixing(workers: int, edges: list[tuple[int, int]]) -> np.ndarray:
    """Return a symmetric matrix whose rows and columns sum to 1."""
    ### BEGIN SOLUTION
    degree = np.zeros(workers)
    for pair in edges:
        degree[list(pair)] += 1
    matrix = np.zeros((workers, workers))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1 / (1 + max(degree[a], degree[b]))
    return matrix + np.diag(1 - matrix.sum(axis=1))
    ### END SOLUTION


def shrinks(matrix: np.ndarray) -> float:
    """Return the second largest magnitude of an eigenvalue."""
    ### BEGIN SOLUTION
    sizes = np.sort(np.abs(np.linalg.eigvalsh(matrix)))
    return float(sizes[-2]) if len(sizes) > 1 else 0.0
    ### END SOLUTION


# %% nbgrader={"grade_id": "gossip-check", "grade": true, "points": 2}
import numpy as np

from labkit import check


line = [(0, 1), (1, 2)]
with check.case(
    "the worked example: the matrix",
    hint="beside the diagonal: 1 over what, by whose neighbours? on it: what "
    "does the row lack to 1?",
):
    thirds = np.array([[2, 1, 0], [1, 1, 1], [0, 1, 2]]) / 3
    check.close(mixing(3, line), thirds, atol=1e-12, name="matrix")
with check.case(
    "the worked example: how fast",
    hint="of the magnitudes the second largest",
):
    check.close(shrinks(thirds), 2 / 3, atol=1e-9, name="factor")
with check.case(
    "a star with a tail: rows and columns sum to 1",
    hint="the larger of the two degrees; the diagonal makes up for the rest",
    essential=True,
):
    star = [(0, 1), (2, 0), (0, 3), (3, 4)]
    above = [[3, 3, 3, 3, 0], [3, 9, 0, 0, 0], [3, 0, 9, 0, 0]]
    twelfths = np.array([*above, [3, 0, 0, 5, 4], [0, 0, 0, 4, 8]]) / 12
    check.close(mixing(5, star), twelfths, atol=1e-12, name="matrix")
### BEGIN HIDDEN TESTS


def wanted(workers, edges):
    """Return the matrix of the text, entry by entry."""
    beside = {w: set() for w in range(workers)}
    for a, b in edges:
        beside[a].add(b)
        beside[b].add(a)
    rows = [[0.0] * workers for _ in range(workers)]
    for a in range(workers):
        for b in beside[a]:
            rows[a][b] = 1 / (1 + max(len(beside[a]), len(beside[b])))
        rows[a][a] = 1 - sum(rows[a])
    return np.array(rows).reshape(workers, workers)


def expect(workers, edges):
    """Compare all entries of a matrix."""
    found = mixing(workers, edges)
    check.close(found, wanted(workers, edges), atol=1e-12, name="matrix")


def slowest(matrix):
    """Return the factor for which disagreement shrinks least."""
    matrix = np.array(matrix, float)
    apart = matrix - np.full(matrix.shape, 1 / len(matrix))
    return float(np.linalg.svd(apart)[1].max())


pairs = [(a, b) for a in range(12) for b in range(a + 1, 12)]
order = np.random.default_rng(3).permutation(len(pairs))
chosen = [pairs[i] for i in order[:23]]
others = [pairs[i] for i in order[20:43]]  # no matrix that mixing returns
with check.hidden_case(
    "a ring, a complete graph, a random one",
    hint="either order of a pair, any order of the pairs",
):
    expect(6, [(w, (w + 1) % 6) for w in range(6)])
    expect(5, [(b, a) for a in range(5) for b in range(a)])
    expect(12, chosen)
with check.hidden_case(
    "no neighbours, one worker, two",
    hint="who has nobody to talk to keeps its own",
):
    expect(4, [(1, 2)])
    expect(3, [])
    expect(1, [])
    expect(2, [(1, 0)])
with check.hidden_case(
    "how fast: eigenvalues below zero, and none but the largest",
    hint="which eigenvalues of this matrix count, by size or by sign? which "
    "one is left out?",
):
    swap = np.array([[0.05, 0.95], [0.95, 0.05]])
    check.close(shrinks(swap), 0.9, atol=1e-9, name="of a swap")
    check.close(shrinks(np.eye(3)), 1.0, atol=1e-9, name="of nobody's talk")
    apart = wanted(4, [(0, 3), (1, 2)])
    check.close(shrinks(apart), 1.0, atol=1e-9, name="of two groups apart")
    check.close(shrinks(np.eye(1)), 0.0, atol=1e-9, name="of one worker")
    check.close(shrinks(np.full((4, 4), 0.25)), 0.0, atol=1e-9, name="of all")
with check.hidden_case(
    "how fast: a ring and a random graph",
    hint="the largest magnitude is 1; which one comes next?",
    essential=True,
):
    for matrix in (
        wanted(7, [(w, (w + 1) % 7) for w in range(7)]),
        wanted(12, others),
        wanted(5, star),
    ):
        check.close(shrinks(matrix), slowest(matrix), atol=1e-9, name="factor")
with check.hidden_case(
    "the matrix and the edges stay as they were, and so do earlier results",
    hint="change nothing that was handed over, and return new arrays",
    guard=True,
):
    kept, edges = wanted(3, line), np.array(line)
    with check.unchanged(matrix=kept, edges=edges):
        shrinks(kept)
        first = mixing(3, edges)
    expect(3, [(1, 0), (0, 2)])
    check.close(first, kept, name="the first of two matrices")
### END HIDDEN TESTS
check.score(2)

# %% explore=true
P = 16
cube = [(a, a ^ bit) for a in range(P) for bit in (1, 2, 4, 8) if not a & bit]
TOPOLOGIES = {
    "star": [(0, a) for a in range(1, P)],
    "ring": [(a, (a + 1) % P) for a in range(P)],
    "hypercube": cube,
    "everybody": [(a, b) for a in range(P) for b in range(a)],
}
print(f"{P} workers  messages a round  shrinks by  rounds to a hundredth")
for name, edges in TOPOLOGIES.items():
    factor = shrinks(mixing(P, edges))
    rounds_to = math.log(0.01) / math.log(factor) if factor > 1e-6 else 1
    sent = 2 * len(edges)
    print(f"{name:10} {sent:15} {factor:13.3f} {math.ceil(rounds_to):19}")

# %% [markdown]
# Each worker begins with a random number; disagreement is the largest distance of anybody from the mean.
# Which topology has the least of it for its messages?

# %% explore=true
begin = np.random.default_rng(0).standard_normal(P)
begin -= begin.mean()
by_round, by_messages = {}, {}
for name, edges in TOPOLOGIES.items():
    x, matrix, apart_by = begin, mixing(P, edges), []
    while len(apart_by) < 121 and (not apart_by or apart_by[-1] > 1e-4):
        apart_by.append(max(np.abs(x).max(), 1e-4))  # 1e-4: they agree
        x = matrix @ x
    shown = np.arange(len(apart_by))
    by_round[name] = shown, apart_by
    by_messages[name] = shown * 2 * len(edges), apart_by
left, right = plot.panels(2)
left.figure.set_size_inches(9, 3.6)
what = {"ylabel": "disagreement", "logy": True}
plot.curves(by_round, title="Fast in rounds", xlabel="round", ax=left, **what)
title = "And in messages"
plot.curves(by_messages, title=title, xlabel="messages", ax=right, **what)
right.legend().remove()
left.set(xlim=(0, 120), ylim=(9e-5, 3))
_ = right.set(xlim=(0, 3000), ylim=(9e-5, 3))

# %% [markdown]
# The slope that a line has in the end is the logarithm of `shrinks`. A topology is a price:
#
# * The complete graph agrees at once, for 240 messages.
# * The ring is cheap a round and slow to agree.
# * The star overtakes the ring after some 80 rounds, but one worker takes part in all its messages: a server again.
# * The hypercube, whose edges are those of lab 11's recursive doubling, lies between.
#
# MPI's neighbourhood collectives are such rounds in one call.

# %% [markdown]
# ### Task 8. Local steps, and an outer one (2 points)
#
# The strongest way to send less: each worker takes many steps alone, then all are averaged (*local SGD*).
# A worker then waits once a round, for the slowest *sum* of durations.
# `round_ends(durations, every)` returns the times at which the rounds end, an array of floats, if each worker takes `every` steps in a round
# and all wait for the last. Columns at the end that do not fill a round are left out.
#
# DiLoCo (Douillard et al. 2023) treats what comes out of a round as a gradient, and gives it an optimiser with momentum.
# `outer_step(begin, ends, velocity, rate, momentum)` gets the weights at which all began, `(n,)`,
# those at which the workers have ended, `(workers, n)`, and a velocity, `(n,)`. With $\Delta$ = `begin` minus the mean of `ends`:
#
# $$v' = \mathrm{momentum}\; v + \Delta, \qquad w' = \mathrm{begin} - \mathrm{rate}\,(\Delta + \mathrm{momentum}\; v').$$

# %% [markdown]
# It returns the pair $(w', v')$, of the dtype that `begin`, `ends` and `velocity` share; `rate` and `momentum` are Python floats.
# This is Nesterov's momentum as PyTorch writes it. With rate 1 and momentum 0 the weights become the mean of the ends: plain local SGD.
#
# * With durations `[[1, 3, 1, 1], [2, 2, 1, 2]]` and `every` = 2 the rounds end at `[4, 7]`:
#   both workers need 4 s for the first two steps, then 2 s and 3 s. With `every` = 1 they end at `[2, 5, 6, 8]`.
# * From `[1]` with ends `[[0], [0.5]]`, velocity `[1]`, rate 0.5 and momentum 0.5:
#   $\Delta$ is 0.75, $v'$ 1.25, the weights `[0.3125]`.
#
# About 4 and 3 lines.


# %% nbgrader={"grade_id": "outer", "solution": true}
def round_ends(durations: np.ndarray, every: int) -> np.ndarray:
    """Return the times at which rounds of `every` steps a worker end."""
    ### BEGIN SOLUTION
    workers, steps = durations.shape
    whole = durations[:, : steps - steps % every]
    sums = whole.reshape(workers, steps // every, every).sum(axis=2)
    return np.cumsum(sums.max(axis=0))
    ### END SOLUTION


def outer_step(begin, ends, velocity, rate: float, momentum: float):
    """Return the new common weights and the new velocity."""
    ### BEGIN SOLUTION
    delta = begin - ends.mean(axis=0)
    velocity = momentum * velocity + delta
    return begin - rate * (delta + momentum * velocity), velocity
    ### END SOLUTION


# %% nbgrader={"grade_id": "outer-check", "grade": true, "points": 2}
import numpy as np
import torch

from labkit import check


def torch_step(begin, ends, velocity, rate, momentum):
    """Return the weights and the velocity that PyTorch's SGD comes to."""
    weight = torch.tensor(begin, requires_grad=True)
    optimizer = torch.optim.SGD(
        [weight], lr=rate, momentum=momentum, nesterov=momentum > 0
    )
    if momentum > 0:
        moving = {"momentum_buffer": torch.tensor(velocity)}
        optimizer.state[weight] = moving
    gone = [
        sum(column) / len(ends) for column in zip(*ends.tolist(), strict=True)
    ]
    delta = begin - np.array(gone, begin.dtype)
    weight.grad = torch.tensor(delta)
    optimizer.step()
    new = optimizer.state[weight].get("momentum_buffer") if momentum else None
    moved = delta if new is None else new.numpy()
    return weight.detach().numpy(), moved


def expect(begin, ends, velocity, rate, momentum, tolerance=1e-9):
    """Compare the weights and the velocity."""
    want = torch_step(begin, ends, velocity, rate, momentum)
    found, moved = outer_step(begin, ends, velocity, rate, momentum)
    near = {"rtol": tolerance, "atol": tolerance, "dtype": begin.dtype.name}
    check.close(moved, want[1], name="velocity", **near)
    check.close(found, want[0], name="weights", **near)


def drawn(workers, n, seed, dtype=np.float64):
    """Return begin, ends and velocity."""
    draw = np.random.default_rng(seed)
    sizes = (n,), (workers, n), (n,)
    return [draw.normal(size=size).astype(dtype) for size in sizes]


def expect_ends(durations, every, want):
    """Compare the ends of all rounds."""
    found = round_ends(np.array(durations, float), every)
    check.close(found, want, rtol=1e-9, name="ends of rounds")


with check.case(
    "round_ends: the worked example",
    hint="whose sum of durations is a round's? when does the next begin?",
    weight=0.5,
):
    expect_ends([[1, 3, 1, 1], [2, 2, 1, 2]], 2, [4, 7])
    expect_ends([[1, 3, 1, 1], [2, 2, 1, 2]], 1, [2, 5, 6, 8])
with check.case(
    "round_ends: three workers, rounds of three steps",
    hint="each worker's own sum; the largest of these; rounds add up",
    essential=True,
):
    table = [[2, 0.5, 1, 1, 4, 1, 9], [1, 1, 1, 3, 2, 2, 1]]
    table.append([0.5, 1, 3, 1, 1, 1, 1])
    expect_ends(table, 3, [4.5, 11.5])
one = np.array([1.0]), np.array([[0.0], [0.5]]), np.array([1.0])
with check.case(
    "outer_step: the worked example",
    hint="a mean of how many ends, less what? which comes first, velocity "
    "or weights? does a line write into an argument?",
):
    expect(*one, 0.5, 0.5)
with check.case(
    "outer_step: three workers, as PyTorch's SGD does it",
    hint="the mean over the workers; the new velocity in the second formula",
    essential=True,
):
    expect(*drawn(3, 5, 0), 0.7, 0.9)
### BEGIN HIDDEN TESTS


def rounds_of(durations, every):
    """Return what the text says, one worker after the other."""
    now, ends = 0.0, []
    for k in range(every, len(durations[0]) + 1, every):
        now += max(sum(own[k - every : k]) for own in durations)
        ends.append(now)
    return ends


def expect_rounds(workers, steps, every):
    """Compare with the text, for random durations."""
    draw = np.random.default_rng([workers, steps])
    table = draw.uniform(0.5, 4, (workers, steps))
    expect_ends(table, every, rounds_of(table.tolist(), every))


with check.hidden_case(
    "round_ends: many workers and rounds",
    hint="what is waited for, and when?",
):
    expect_rounds(16, 24, 4)
    expect_rounds(3, 12, 1)
    expect_rounds(2, 12, 12)
    expect_rounds(5, 5, 5)
with check.hidden_case(
    "round_ends: steps that do not fill a round, one worker",
    hint="which columns are left out?",
):
    expect_rounds(4, 23, 5)
    expect_rounds(1, 8, 3)
    expect_rounds(3, 9, 5)
with check.hidden_case(
    "round_ends: more steps than there are",
    hint="without a full round nothing ends",
    weight=0.5,
):
    expect_rounds(3, 4, 5)
with check.hidden_case(
    "round_ends: the durations and earlier results stay as they were",
    hint="change nothing that was handed over, and return new arrays",
    guard=True,
):
    table = np.random.default_rng(9).uniform(0.5, 4, (3, 6))
    with check.unchanged(durations=table):
        before = round_ends(table, 1)
    check.close(
        round_ends(table + 1, 1),
        rounds_of((table + 1).tolist(), 1),
        name="next",
    )
    check.close(before, rounds_of(table.tolist(), 1), name="the first result")
with check.hidden_case(
    "outer_step: plain local SGD",
    hint="rate 1 and no momentum: the mean of the ends",
):
    begin, ends, velocity = drawn(4, 3, 1)
    found, _ = outer_step(begin, ends, velocity, 1.0, 0.0)
    check.close(found, sum(ends) / 4, rtol=1e-9, name="weights")
    expect(*drawn(4, 3, 2), 0.5, 0.0)
with check.hidden_case(
    "outer_step: one worker, one weight, none",
    hint="one worker or one weight: which axes are left, and over which is "
    "the mean?",
):
    expect(*drawn(1, 4, 3), 0.3, 0.6)
    expect(*drawn(6, 1, 4), 0.3, 0.6)
    found = outer_step(*drawn(2, 0, 5), 0.3, 0.6)
    check.equal([len(part) for part in found], [0, 0], name="lengths")
with check.hidden_case(
    "outer_step: float32 stays float32",
    hint="no array of another kind on the way",
):
    expect(*drawn(3, 4, 6, np.float32), 0.7, 0.9, tolerance=1e-5)
with check.hidden_case(
    "outer_step: the arguments stay as they were, and so do earlier results",
    hint="return new arrays",
    guard=True,
):
    begin, ends, velocity = drawn(2, 3, 7)
    with check.unchanged(begin=begin, ends=ends, velocity=velocity):
        first = outer_step(begin, ends, velocity, 0.7, 0.9)
    expect(*drawn(2, 3, 8), 0.7, 0.9)
    for part, want in zip(
        first, torch_step(begin, ends, velocity, 0.7, 0.9), strict=True
    ):
        check.close(part, want, name="the first of two results")
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# Waiting at every step cost more than half of the 14 gradients a second. How much of that do 4 local steps win back, how much do 16?


# %% explore=true
def outer_path(momentum, rounds=15):
    """Return a weight after each round; workers come 30 % nearer to 0."""
    w, velocity, path = np.array([1.0]), np.zeros(1), [1.0]
    for _ in range(rounds):
        ends = np.array([0.6 * w, 0.8 * w])
        w, velocity = outer_step(w, ends, velocity, 0.7, momentum)
        path.append(w[0])
    return np.arange(rounds + 1), np.array(path)


left, right = plot.panels(2)
left.figure.set_size_inches(9, 3.6)
tried = (1, 2, 4, 8, 16, 32)
ends = [round_ends(cluster_seconds, every) for every in tried]
speed = [16 * k * len(e) / e[-1] for k, e in zip(tried, ends, strict=True)]
title = "Delays hide behind one another"
plot.curves({"": (tried, speed)}, ax=left, logx=True, title=title)
left.set(xlabel="local steps", ylabel="gradients a second", ylim=(0, 15))
paths = {f"momentum {m}": outer_path(m) for m in (0.0, 0.5, 0.9)}
plot.curves(paths, ax=right, title="A weight whose best is 0", xlabel="round")
right.axhline(0, color="black", linestyle=":", linewidth=1)
for every, found in zip(tried, speed, strict=True):
    print(f"{every:2} local steps: {found:4.1f} gradients a second")

# %% [markdown]
# Delays that fall on different steps of a round hide behind one another.
# A wait at every step leaves some 5 gradients a second, one in four steps 7, one in sixteen 9; nobody's waiting would be 14.
# An outer momentum adds what earlier rounds said: it is faster where they agree, and overshoots where there is too much of it.

# %% [markdown]
# ### Experiment 5. Accuracy against messages
#
# Each of the next functions trains 16 workers for 100 virtual seconds, each at the full rate of 0.5 on its own weights.
# It returns times, messages and accuracies of the mean or the centre.
#
# Local SGD is yours. Gossip is synchronous with neighbours only: your simulator's rule says when.
# *Elastic averaging* ties each worker by a spring to a centre, which the springs pull as well (Zhang et al. 2015):
#
# $$x_i' = x_i - \mathrm{rate}\; g_i - \alpha\,(x_i - \tilde x), \qquad
#   \tilde x' = \tilde x + \alpha \sum_i (x_i - \tilde x).$$
#
# What the springs take from the workers the centre gets: without gradients $\sum_i x_i + \tilde x$ stays the same.
# Who learns most for its messages, and who in 100 s?


# %% explore=true
def alone(weights, steps, draw, rate=np.float32(0.5)):
    """Return the weights after some steps of a worker by itself."""
    for _ in range(steps):
        weights = weights - rate * some_gradient(weights, draw)
    return weights


def local_sgd(every, rate=1.0, momentum=0.0, seed=0, seconds=SECONDS):
    """Train with `every` steps alone, then an outer one, and again."""
    draw, sent, weights = np.random.default_rng(seed), 16, start(seed)
    velocity, found = np.zeros_like(weights), [(0, sent, accuracy(weights))]
    for now in round_ends(seconds_of(16, 400, seed), every):
        if now > seconds:
            break
        ends = np.array([alone(weights, every, draw) for _ in range(16)])
        weights, velocity = outer_step(weights, ends, velocity, rate, momentum)
        sent += 2 * 16
        found.append((now, sent, accuracy(weights)))
    return np.array(found).T


# %% folded=true nbgrader={"grade_id": "elastic", "locked": true}
def easgd_step(x, center, gradients, rate, alpha):
    """Return the workers' weights and the centre after a step."""
    pull = alpha * (x - center)
    return x - rate * gradients - pull, center + pull.sum(axis=0)


def elastic(every, alpha=0.05, seed=0, seconds=SECONDS):
    """Train with `every` steps alone, the last of them with springs."""
    draw, sent, center = np.random.default_rng(seed), 16, start(seed)
    x, found = np.tile(center, (16, 1)), [(0, sent, accuracy(center))]
    for now in round_ends(seconds_of(16, 400, seed), every):
        if now > seconds:
            break
        x = np.array([alone(each, every - 1, draw) for each in x])
        gradients = np.array([some_gradient(each, draw) for each in x])
        x, center = easgd_step(x, center, gradients, 0.5, alpha)
        sent += 2 * 16
        found.append((now, sent, accuracy(center)))
    return np.array(found).T


# %% folded=true nbgrader={"grade_id": "gossip-training", "locked": true}
def ends_of_rounds(edges, took):
    """Return the time at which all have ended k steps, for k = 1, 2, ..."""
    beside = [{w} for w in range(len(took))]
    for a, b in edges:
        beside[a].add(b)
        beside[b].add(a)

    def with_neighbours(worker, clocks):
        return all(clocks[worker] <= clocks[b] for b in beside[worker])

    clocks, ends = [0] * len(took), np.zeros(took.shape)
    for now, kind, worker in simulate(took, with_neighbours):
        if kind == "end":
            ends[worker, clocks[worker]] = now
            clocks[worker] += 1
    return ends.max(axis=0)


def gossip(edges, seed=0, seconds=SECONDS):
    """Train with neighbours only; the mean of all is what is tested."""
    matrix, sent = mixing(16, edges).astype(np.float32), 16
    draw, x = np.random.default_rng(seed), np.tile(start(seed), (16, 1))
    found = [(0, sent, accuracy(x[0]))]
    for now in ends_of_rounds(edges, seconds_of(16, 400, seed)):
        if now > seconds:
            break
        x = matrix @ np.array([alone(each, 1, draw) for each in x])
        sent += 2 * len(edges)
        found.append((now, sent, accuracy(x.mean(axis=0))))
    return np.array(found).T


def draw_plane(plane):
    """Draw the mean of each way's (messages, seconds), and its range."""
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
    points = {
        group: tuple(np.transpose([np.mean(p, axis=0) for p in some.values()]))
        for group, some in plane.items()
    }
    plot.scatter(points, logx=True, ax=ax, title="To an accuracy of 85 %")
    for some in plane.values():
        for name, pairs in some.items():
            (x, y), (left, low) = np.mean(pairs, 0), np.min(pairs, 0)
            right, high = np.max(pairs, axis=0)
            ax.plot([left, right], [y, y], color="0.7", lw=1.5, zorder=0)
            ax.plot([x, x], [low, high], color="0.7", lw=1.5, zorder=0)
            west = name in ("gossip, ring", "14 of 16")
            south = name in ("DiLoCo, 4 steps", "14 of 16")
            at = {"xytext": (-6 if west else 6, -4 if south else 4)}
            at["va"] = "top" if south else "bottom"
            at |= {"textcoords": "offset points", "fontsize": 9}
            ax.annotate(name, (x, y), ha="right" if west else "left", **at)
    ax.set(xlabel="messages", ylabel="virtual seconds", xlim=(50, 2000))
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, loc="lower left")


# %% explore=true
tries = {
    "synchronous": partial(local_sgd, 1),
    "local, 16 steps": partial(local_sgd, 16),
    "gossip, ring": partial(gossip, TOPOLOGIES["ring"]),
    "local, 4 steps": partial(local_sgd, 4),
    "DiLoCo, 4 steps": partial(local_sgd, 4, 0.7, 0.5),
    "elastic, 4 steps": partial(elastic, 4),
}
each_way = {
    name: [train(seed=seed) for seed in range(3)]
    for name, train in tries.items()
}
print("in 100 s          rounds  messages  accuracy of the mean: three seeds")
for name, found in each_way.items():
    rounds = np.mean([each.shape[1] - 1 for each in found])
    sent = np.mean([each[1, -1] for each in found])
    ends = [each[2, -1] for each in found]
    said = "  ".join(f"{share:.3f}" for share in sorted(ends))
    print(f"{name:17} {rounds:6.0f} {sent:9.0f}  {np.mean(ends):.3f}: {said}")

# %% explore=true
means = {}  # of times, messages and errors after as many rounds
for name, found in each_way.items():
    rounds = min(each.shape[1] for each in found)
    means[name] = np.mean([each[:, :rounds] for each in found], axis=0)
    means[name][2] = 1 - means[name][2]
axes = plot.panels(2, stacked=True)
axes[0].figure.set_size_inches(7.5, 7)
for place, (xlabel, count) in enumerate(
    (("virtual seconds", 3), ("messages", 6))
):
    some = list(means)[:count]
    plot.curves(
        {name: (means[name][place], means[name][2]) for name in some},
        title=f"Against {xlabel}: {count} of 6 ways, mean of three",
        xlabel=xlabel,
        ylabel="validation error",
        logx=place == 1,
        logy=True,
        ax=axes[place],
    )

# %% [markdown]
# Against messages the ways are far apart:
#
# * With sixteen local steps more is learned than with an average at every step, with about a tenth of the messages.
# * Elastic averaging comes about as far as synchronous training, with less than a third of them.
# * The ring sends as many in a round as a server: neighbours save a little waiting, not messages.
# * DiLoCo's outer momentum learns somewhat more than plain averages of four local steps, but single seeds differ by as much.
#   (Its momentum here is 0.5; the paper's is 0.9.)
#
# Until now all workers drew from the same images. The next cell gives each a sixteenth of its own, sorted by class:
# it sees one digit, or two, as in the experiment that made federated averaging known (McMahan et al. 2017).
# What do you expect of sixteen steps alone now, and of 64?


# %% explore=true
def apart(every, steps=64, seed=0, rate=np.float32(0.5)):
    """Return the accuracy of local SGD whose workers have own classes."""
    draw, common = np.random.default_rng(seed), start(seed)
    by_class = np.array_split(np.argsort(y_train, kind="stable"), 16)
    for _ in range(steps // every):
        ends = np.tile(common, (16, 1))
        for weights, own in zip(ends, by_class, strict=True):
            for _ in range(every):
                batch = draw.choice(own, size=16)
                found = gradient(weights, x_train[batch], y_train[batch])
                weights[:] = weights - rate * found
        common = ends.mean(axis=0)
    return accuracy(common)


for every in (1, 4, 16, 64):
    each = "  ".join(f"{apart(every, seed=seed):.3f}" for seed in range(3))
    print(f"{every:2} steps alone, 64 in all: {each}")

# %% [markdown]
# Each worker unlearns what it does not see: the longer the weights drift apart, the worse a network is their mean.
# At the end of B's scale stand workers that never talk: an ensemble (lab 10).

# %% [markdown]
# ### All ways on one plane
#
# What does it cost to reach 85 %? A point for each way of Experiments 1 and 5, on the same three tables of seconds:
# the mean of three seeds, and grey lines from the least to the most. Left is few messages, low is little time.


# %% explore=true
def first_at(times, sent, shares, goal=0.85):
    """Return messages and seconds when the accuracy is reached."""
    if max(shares) < goal:
        return math.nan, math.nan
    k = int(np.argmax(np.asarray(shares) >= goal))
    return sent[k], times[k]


plane = {"one set of weights": {}, "weights of one's own": {}}
for name, found in learned.items():
    plane["one set of weights"][name] = []
    for events, (times, shares) in zip(modes, found, strict=True):
        when = [time for time, _, _ in events[name]]
        sent = np.searchsorted(when, times, side="right")
        plane["one set of weights"][name].append(first_at(times, sent, shares))
for name, found in each_way.items():
    if name != "synchronous":  # it is there already
        plane["weights of one's own"][name] = [first_at(*one) for one in found]
draw_plane(plane)

# %% [markdown]
# To the left are ways of many steps alone, which they can afford because all draw from the same images.
# Low are those in which a delay keeps nobody else, or few, waiting.
# Points whose grey lines overlap are not told apart; of sixteen steps alone the height is known to a round only.

# %% [markdown]
# ## Open task: your own policy (2 points)
#
# A cluster of your own: 16 workers with the delays of `seconds_of`, in machines of four, and worker 3 twice as slow as the others, always.
# Reach a high accuracy early *and* send few messages.
#
# **Two scores to beat**, means of five seeds; messages within a machine are free:
#
# * Most accurate: 0.92 after 100 s with at most 1,350 messages. Seeds differ by 0.011 (standard deviation),
#   so within 0.01 you are as good. Asynchronous training has 0.93 with 2,700.
# * Fewest messages until the mean is at 0.90: 870. Asynchronous training needs 1,755.
#
# Ideas: a slack that grows or shrinks; a rate that knows staleness; backup workers whose late gradients are not thrown away;
# local steps, more of them for fast workers; gossip with a partner drawn anew each time; `Node`s with a slack.

# %% [markdown]
# Hand in, below and in the cell after it (a person reads both, and the output that you have stored):
#
# 1. your policy, other than the one below, beside synchronous and asynchronous training, for at least five seeds;
#    a figure of accuracy against virtual time and one against messages, with the spread over seeds and labelled axes;
# 2. three or four sentences: what your policy gives up (agreement, a worker's share of the images, freshness, repeatability), what it gains,
#    whether the difference is larger than the spread, and a cluster on which it would lose. Say how many policies you tried.
#
# A server of your own needs `pull`, `push`, `weights`, `messages` and `readings`: put yours into `Counted`,
# or let `my_server` return `Machines(every, rate, seed)`, whose messages within a machine are free.


# %% explore=true
# Change this cell: your own rule, and your own server.
def my_rule(worker, clocks):
    """Run ahead of most of the others, not of the slowest."""
    return clocks[worker] - sorted(clocks)[2] <= 3


def my_server(seed):
    """One server for all."""
    return Counted(Server(start(seed), 0.5 / 16))


# %% explore=true
def against_others(seed):
    """Return times, and by way accuracies and messages at these times."""
    mine = seconds_of(16, 200, seed)
    mine[3] *= 2
    found = {}
    plain = [Counted(Server(start(seed), 0.5 / 16)) for _ in range(2)]
    for name, rule, server in (
        ("synchronous", partial(within, slack=0), plain[0]),
        ("asynchronous", always, plain[1]),
        ("my rule", my_rule, my_server(seed)),
    ):
        events = simulate(mine, rule)
        times, shares = replay(events, server, SECONDS, seed)
        found[name] = shares, np.array(server.readings)
    return times, found


runs = [against_others(seed) for seed in range(5)]
for name in runs[0][1]:
    shares, sent = np.array([found[name] for _, found in runs]).swapaxes(0, 1)
    last, curve = shares[:, -3:].mean(axis=1), shares.mean(axis=0)
    some = np.flatnonzero(curve >= 0.9)
    first = f"{sent.mean(axis=0)[some[0]]:.0f}" if len(some) else "never"
    print(
        f"{name:13} {last.mean():.3f} ({last.min():.3f} to {last.max():.3f}), "
        f"{sent.mean(axis=0)[-1]:.0f} messages; {first} to 0.90"
    )

# %% explore=true
left, right = plot.panels(2)
left.figure.set_size_inches(9, 3.8)
by_time, by_messages, bands = {}, {}, {}
for name in runs[0][1]:
    shares, sent = np.array([found[name] for _, found in runs]).swapaxes(0, 1)
    by_time[name] = runs[0][0], shares.mean(axis=0)
    by_messages[name] = sent.mean(axis=0), shares.mean(axis=0)
    bands[name] = np.array([shares.min(axis=0), shares.max(axis=0)])
plot.curves(by_time, spread=bands, ax=left, title="Mean and range over seeds")
plot.curves(by_messages, spread=bands, ax=right, title="Against messages")
goals = [1350, 870], [0.92, 0.90]
right.plot(*goals, "x", color="black", ms=10, mew=2.5, label="to beat")
right.legend(fontsize=9, loc="lower right")
left.legend().remove()
left.set(xlim=(0, SECONDS), ylim=(0.7, 1), xlabel="virtual seconds")
left.set(ylabel="validation accuracy")
_ = right.set(ylim=(0.7, 1), xlabel="messages")

# %% [markdown] nbgrader={"grade_id": "own-policy", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# Nobody waits, and in each machine of four a `Node` sends up every second gradient's mean.
# In a run with five seeds (the cells above show another rule) synchronous training ended at .787 to .865 (mean .840) with 970 messages,
# asynchronous at .916 to .944 (.928) with 2,700, mine at .908 to .940 (.922). It has as many messages as that within machines, but only 1,350 between them, and its mean is at .90 after 870, where asynchronous training needs 1,755.
# My worst seed is above the best synchronous one; the gain of .082 is as large as all that synchronous seeds differ by.
# That asynchronous training is better, by .006, lies within the spread.
# With four gradients in a mean it was .895, and .868 for one seed: too stale for the rate, as in Experiment 4.
# I give up freshness, for a gradient waits for a second one, and half of worker 3's share: if it had other data than the rest, the model would see few of them.
# Where messages cost nothing I would lose to plain asynchronous training. On real machines no run could be repeated.
#
# **Rubric.**
#
# * 1 point: both figures; three ways, five seeds, spread shown, axes labelled. Half a point for one figure, or for fewer seeds.
# * 1 point: what is given up, with a reason (half); a conclusion that the spread supports, and a cluster on which it would lose (half).
#
# How fast their policy is earns nothing. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ### In your words (2 points)
#
# *Asynchronous descent is the main method of large-scale training* (D, 2017).
# *Research is converging on MPI*, so on workers that wait for one another (B, 2018).
#
# 1. With your numbers from Experiments 2 and 3: what does asynchronous training gain over synchronous training, with delays and without,
#    in gradients a second and in seconds to 85 %?
#    What did it not gain, although its gradients a second say so?
# 2. A model has 100 MB of weights, a server's link carries 1.25 GB/s each way, and each of 32 workers needs 1 s for a gradient.
#    How many gradients a second can one server take? What do you propose: more servers, nodes, local steps, or an all-reduce? Give a number.
# 3. Name a task today for which you would choose asynchronous training.
#
# About 150 words.

# %% [markdown] nbgrader={"grade_id": "d-or-b", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# **Model answer.**
# With delays asynchronous training did 14.0 gradients a second where synchronous training did 5.4, 2.6 times as many, and reached 85 % in 39 s instead of 79
# (means of three seeds); fourteen of sixteen needed 37 s, and agreed at every step.
# On machines that are alike it did 15.9 instead of 13.3, 1.2 times as many, and needed 43 s where waiting for all needed 35.
# Sixteen workers are not sixteen times as fast as one: a full rate for each gradient learns nothing,
# so each counts a sixteenth (Experiment 2).
# D was right where delays were common and servers cheap; B where machines are alike.
#
# Each gradient is 100 MB in and 100 MB out: 0.08 s each way, so the link takes 12.5 gradients a second, and 32 workers deliver 32.
# Three servers with a third of the weights each carry 37.5. Or eight local steps, which cut 32 messages a second to 4.
# A ring of all 32 sends $2 \cdot \frac{31}{32} \cdot 100$ MB a rank, 0.16 s a step, whatever the number of workers; it needs no server, but waits.
#
# Asynchronous today: workers that come and go (volunteers' machines, spot instances), reinforcement learning's actors, training over several data centres with rare, late averages.
#
# **Rubric.**
#
# * 1 point: both gains with their numbers (half); the rate, or staleness, as what eats the sixteen (half).
# * 1 point: 12.5 gradients a second (or 6.25, if one link carries both ways by turns) and a proposal with a number (half);
#   a task with workers that are unlike or come and go, with a reason (half).
#
# Numbers within 20 % of their own table are right. Half a point off for claims without a number. Do not take points for language.
# ### END SOLUTION

# %% [markdown]
# ## Your result card
#
# What not waiting was worth in Experiment 3: in seconds, for gradients a second may be stale ones.

# %% explore=true
with_delays, alike = (
    np.array(verdict[title, "synchronous"])[:, 1]
    / np.array(verdict[title, "asynchronous"])[:, 1]
    for title in clusters
)
result_card(
    "virtual seconds to 85 % accuracy, synchronous over asynchronous, "
    "16 workers with delays",
    with_delays.mean(),
    n=3,
    spread=with_delays.std(),
    unit="x",
    kind="modelled",
    source="D: asynchronous descent is currently the main method",
    lab="13_consistency",
    note=f"Validation images. Where all workers are alike: {alike.mean():.2f}.",
)

# %% [markdown]
# ## What you take along
#
# * Waiting costs as much as the slowest of all, at every step. Not waiting for a few removes most of that.
# * Stale gradients bear a smaller rate only. Count gradients *and* how far each may go.
# * A slack bounds staleness and hides short delays; against a worker that is always slow it helps until it is used up.
# * Local steps and levels save messages, neighbours a little waiting: each is another way not to agree for a while.
# * Asynchronous runs cannot be repeated. Backup workers and local SGD keep rounds, and most of the speed.
# * "The main method" is a statement about a cluster. Ask how unlike its workers are.
#
# The next lab asks how few bytes each of the messages can have.

# %% [markdown]
# ## Optional
#
# Six more experiments, without points, each by itself: take those that you like.

# %% [markdown]
# ### Optional A. How large may the rate be? (15 minutes)
#
# Equal workers that deliver in turn all have the same staleness: one less than there are workers.
# For each number the next cell looks for the largest rate with which 960 gradients reach 80 %.
# For the parabola $\frac{\lambda}{2} w^2$ a gradient that is $s$ updates old is stable
# up to the rate $\frac{2}{\lambda}\sin\frac{\pi}{2(2s+1)}$ (Yang et al. 2021, for pipelines).
# The figure takes the $\lambda$ with which both curves begin at the same point: compare how they fall.


# %% explore=true
def in_turn(workers, steps):
    """Return the events of equal workers that deliver in turn."""
    seconds = np.ones((workers, steps))
    seconds[:, 0] += np.arange(workers) / workers / 2
    return simulate(seconds, always)


def largest_rate(workers, gradients=960, seed=0, most=2**1.5):
    """Return the largest rate, up to `most`, to a fourth root of two."""
    events = in_turn(workers, gradients // workers)
    for power in range(round(4 * math.log2(most)), -32, -1):
        rate = 2 ** (power / 4)
        server = Server(start(seed), rate)
        replay(events, server, 2 * gradients, seed, every=1e9)
        if accuracy(server.weights) >= 0.8:
            return rate
    return 0.0


# %% explore=true
sizes = np.array([1, 2, 4, 8, 16])
largest = [largest_rate(1)]
for workers in sizes[1:]:  # more workers do not bear a larger rate
    largest.append(largest_rate(workers, most=largest[-1]))
stale = sizes - 1
theory = largest[0] * np.sin(np.pi / (2 * (2 * stale + 1)))
ax = plot.curves(
    {
        "your server": (sizes, largest),
        "a parabola, scaled": (sizes, theory),
    },
    title="The largest rate that learns",
    xlabel="workers (staleness + 1)",
    ylabel="rate of each gradient",
    logx=True,
    logy=True,
)
for workers, rate in zip(sizes, largest, strict=True):
    said = f"{rate:.3f}; times workers {rate * workers:.2f}"
    print(f"staleness {workers - 1:2}: {said}")

# %% [markdown]
# Your server's rate falls about as $1/(s+1)$, the parabola's about as $1/(2s+1)$: in the end both halve where the staleness doubles.
# (The search tries rates 19 % apart, with one seed: numbers that look equal are rounded.)
# So sixteen asynchronous workers are *not* sixteen times as fast as one with its best rate.
# They are as a large batch is (lab 12): useful where noise limits learning, not where the rate does.

# %% [markdown]
# ### Optional B. One straggler (15 minutes)
#
# In the experiments above delays fell on everybody alike. Now one worker of sixteen is four times as slow as the others, always.

# %% explore=true
lame = cluster_seconds.copy()
lame[3] *= 4
print("one worker of 16 four times as slow")
print(f"{'':14} gradients a second   its share   its staleness")
for name, events in {
    "synchronous": simulate(lame, partial(within, slack=0)),
    "slack 3": simulate(lame, partial(within, slack=3)),
    "slack 10": simulate(lame, partial(within, slack=10)),
    "asynchronous": simulate(lame, always),
    "15 of 16": backup_workers(lame, 15),
}.items():
    early = [event for event in events if event[0] <= 300]
    ends = [worker for _, kind, worker in early if kind == "end"]
    old = [s for s, w in zip(staleness(early), ends, strict=True) if w == 3]
    mean = f"{np.mean(old):.0f}" if old else "none"
    share = ends.count(3) / len(ends)
    print(f"{name:14} {rate_of(events, 300):18.2f} {share:11.1%} {mean:>15}")

# %% [markdown]
# A slack lets workers run ahead of a *short* delay. Against a worker that is always slow it helps only until it is used up;
# from then on all go at the straggler's pace.
# Asynchronous training goes on, with gradients of that worker that are several times as old, and fewer images of its share:
# if its data are unlike the others', the model hardly sees them.
#
# Backup workers throw most of its gradients away, and use none that is made of an older version
# (staleness counts arrivals, and a slow worker is the last of its round).
# But the straggler takes the one place to spare: each round now waits for the delays of the fifteen others.

# %% [markdown]
# ### Optional C. Hogwild: no messages at all (15 minutes)
#
# In shared memory there need not be any messages (Niu et al. 2011). In *Hogwild*
# processes add to the same array, without a lock, and read it while others write.
# `torch.from_file(..., shared=True)` maps a file into several processes' memory. It is remote memory access (RMA) inside a machine:
# a worker writes into memory that is not its own, and nobody takes part.
#
# After every gradient each process also adds 1 to each of 20,000 shared counters.
# What is missing at the end was lost: read by two, and then written by one after the other.
# At last two processes count and do nothing else. Guess: what share is lost, and does training notice?


# %% explore=true
def shared(folder, name, size):
    """Return a vector that lies in a file, for all processes that ask."""
    return torch.from_file(f"{folder}/{name}", shared=True, size=size)


def hogwild(rank, world_size, folder, steps, rate):
    """Take steps on the shared weights, unless the rate is 0, and count."""
    here = shared(folder, "w", SIZE).numpy()  # the same memory
    tally, one = shared(folder, "n", 20_000), torch.ones(20_000)
    gate = shared(folder, "gate", world_size)
    gate[rank] = 1
    while gate.sum() < world_size:  # begin together
        pass
    draw = np.random.default_rng(rank)
    for _ in range(steps):
        if rate:
            here -= np.float32(rate) * some_gradient(here.copy(), draw)
        tally += one


# %% explore=true
import tempfile
import zlib


def run_hogwild(processes, steps, rate):
    """Return accuracy, share of the counts that was lost, a checksum."""
    with tempfile.TemporaryDirectory() as folder:
        shared(folder, "w", SIZE).copy_(torch.from_numpy(start(0)))
        tally = shared(folder, "n", 20_000).zero_()
        shared(folder, "gate", processes).zero_()
        launch(hogwild, processes, folder, steps, rate, backend="none")
        counted = float(tally.double().mean()) / (processes * steps)
        weights = shared(folder, "w", SIZE).numpy().copy()
        return accuracy(weights), 1 - counted, zlib.crc32(weights)


print("processes  accuracy  counts lost  checksum  (4000 gradients)")
for processes in (1, 1, 2, 2, 4):
    share, lost, bits = run_hogwild(processes, 4000 // processes, 0.1)
    print(f"{processes:9} {share:9.3f} {lost:12.4%}  {bits:08x}")
_, lost, _ = run_hogwild(2, 20_000, 0)
print(f"{2:9} {'':9} {lost:12.4%}  (counting only)")

# %% [markdown]
# Now and then an addition is lost, and training does not mind: another minibatch will say the same.
# (The paper's proof needs gradients that each change few weights. These change most of them; but few writes meet.)
# Did counting only, the last row, lose more? It need not:
# two that go through the array at one pace, one behind the other, seldom meet at a counter.
# The checksum is of the weights: one process ends with the same ones each time, two hardly ever.
# That is a price when you look for an error.

# %% [markdown]
# ### Optional D. A sharded server on ranks (20 minutes)
#
# Two ranks each hold a half of the weights in a `Server` of yours; others are workers.
# A worker sends a server its part of a gradient, and gets new weights back; a server serves whoever comes next.
# What mean staleness do you expect at a server of two workers, and of four?


# %% explore=true
def serve(shard, workers, steps, rate):
    """Serve whoever comes; return the shard, and all staleness."""
    server, came = Server(shard, rate), torch.empty(len(shard))
    for worker in workers:
        dist.send(torch.from_numpy(server.pull(worker)), worker)
    stale, seen = [], dict.fromkeys(workers, 0)
    for pushes in range(len(workers) * steps):
        worker = dist.recv(came)  # from anybody
        server.push(worker, came.numpy())
        stale.append(pushes - seen[worker])
        seen[worker] = pushes + 1
        dist.send(torch.from_numpy(server.pull(worker)), worker)
    return server.weights, stale


def work(rank, servers, steps):
    """Compute; send each server its part, and take what it returns."""
    draw = np.random.default_rng(rank)
    parts = [torch.empty(len(p)) for p in np.array_split(start(0), servers)]
    for server, part in enumerate(parts):
        dist.recv(part, server)
    for _ in range(steps):
        found = some_gradient(torch.cat(parts).numpy(), draw)
        for server, part in enumerate(np.array_split(found, servers)):
            dist.send(torch.from_numpy(part.copy()), server)
            dist.recv(parts[server], server)
    return 2 * steps * servers


# %% explore=true
def cluster_of_ranks(rank, world_size, servers, steps, rate):
    """Be a server or a worker."""
    if rank >= servers:
        return work(rank, servers, steps)
    shard = np.array_split(start(0), servers)[rank]
    return serve(shard, list(range(servers, world_size)), steps, rate)


def run_servers(servers, workers, steps, rate=0.2):
    """Return accuracy, staleness at the first server, messages of workers."""
    count = servers + workers
    given = servers, steps, rate
    ranks = launch(
        cluster_of_ranks, count, *given, backend="gloo", timeout_s=40
    )
    weights = np.concatenate([shard for shard, _ in ranks[:servers]])
    return accuracy(weights), ranks[0][1], sum(ranks[servers:])


print("servers  workers  accuracy  staleness: mean, largest  messages")
for servers, workers in ((1, 1), (2, 2), (2, 4)):
    share, stale, sent = run_servers(servers, workers, 600 // workers)
    print(
        f"{servers:7} {workers:8} {share:9.3f} "
        f"{np.mean(stale):16.1f} {max(stale):8} {sent:9}"
    )

# %% [markdown]
# The mean staleness, about one less than there are workers, follows from counting.
# The largest is the machine's: while the system gave one worker no processor time,
# or its message none, another pushed that often in a row, and no rule bounds it.
# Every shard sees each worker once a step, so two servers share the bytes, not the messages.
# The accuracy is of one run each: it says that all learn, not which learns best.

# %% [markdown]
# ### Optional E. TensorFlow's jobs (30 minutes)
#
# Slides D: a TensorFlow cluster consists of *tasks*, processes, usually one a machine; a *job* is a set of tasks with the same role.
# `ps` tasks keep the variables, `worker` tasks compute.
# `ParameterServerStrategy` adds a coordinator (the job `chief`), which hands steps to whichever worker is free: asynchronous training.
# The next cells start two `ps` and two `worker` tasks here, for a linear model.
# Read `coordinate`; the folded cells are plumbing. Two workers add to one counter, `done`: will it come to 300?

# %% folded=true nbgrader={"grade_id": "tensorflow-addresses", "locked": true}
import importlib.util
import os
import socket
from contextlib import ExitStack

# Else each task starts some 80 threads for its connections; and with a single
# thread for operations a task that waits for another one cannot answer it.
FEW = {
    "TF_GRPC_WORKER_CACHE_QUEUES": "2",
    "TF_GRPC_WORKER_CACHE_THREADS": "2",
    "TF_NUM_INTEROP_THREADS": "4",
}
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": ""}


def addresses(**jobs):
    """Return a cluster: for each job, addresses of free ports."""
    with ExitStack() as stack:

        def free():
            probe = stack.enter_context(socket.socket())
            probe.bind(("127.0.0.1", 0))
            return f"127.0.0.1:{probe.getsockname()[1]}"

        return {job: [free() for _ in range(n)] for job, n in jobs.items()}


# %% folded=true nbgrader={"grade_id": "tensorflow-task", "locked": true}
def tensorflow_task(cluster, job, index):
    """Be one task of a job, until somebody ends this process."""
    os.environ.update(FEW | QUIET)  # read when TensorFlow is imported
    import tensorflow as tf

    spec = tf.train.ClusterSpec(cluster)
    server = tf.distribute.Server(spec, job, index, protocol="grpc")
    print("ready")
    server.join()


# %% folded=true nbgrader={"grade_id": "tensorflow-strategy", "locked": true}
def strategy_for(cluster):
    """Return a strategy that cuts each variable into a shard for each ps."""
    import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster),
        rpc_layer="grpc",
        task_type="chief",
        task_id=0,
    )
    cut = tf.distribute.experimental.partitioners.FixedShardsPartitioner
    return tf.distribute.ParameterServerStrategy(
        resolver, cut(len(cluster["ps"]))
    )


def softmax_step(w, x, y, rate):
    """Move the shards of w down their gradients, as they are now."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        scores = x @ tf.convert_to_tensor(w)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores)
        loss = tf.reduce_mean(each)
    shards = list(w.variables)
    for shard, found in zip(shards, tape.gradient(loss, shards), strict=True):
        shard.assign_sub(rate * found)


# %% explore=true
def coordinate(cluster, x, y, steps):
    """Hand out steps; return weights, steps counted, places of the shards."""
    import tensorflow as tf

    strategy = strategy_for(cluster)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        w = tf.Variable(tf.zeros((64, 10)))
        done = tf.Variable(0, aggregation=tf.VariableAggregation.SUM)

    @tf.function(autograph=False)
    def step(batch):
        images, labels = tf.gather(x, batch), tf.gather(y, batch)
        softmax_step(w, images, labels, 0.3)
        done.assign_add(1)

    draw = np.random.default_rng(0)
    for _ in range(steps):
        batch = tf.constant(draw.integers(len(y), size=32))
        coordinator.schedule(step, args=(batch,))
    coordinator.join()
    places = [shard.device for shard in w.variables]
    return tf.convert_to_tensor(w).numpy(), int(done.numpy()), places


# %% folded=true nbgrader={"grade_id": "tensorflow-run", "locked": true}
def with_tensorflow(steps=300):
    """Start four tasks, train, and end them."""
    cluster = addresses(ps=2, worker=2, chief=1)
    with ExitStack() as stack:
        tasks = {
            f"{job} {index}": stack.enter_context(
                background(tensorflow_task, cluster, job, index)
            )
            for job in ("ps", "worker")
            for index in range(2)
        }
        for name, task in tasks.items():
            task.find("ready", timeout_s=90)
            print(f"{name}: process {task.pid}")
        given = cluster, x_train, y_train.astype(np.int64), steps
        found = in_fresh_process(
            coordinate, *given, environment=FEW | QUIET, timeout_s=90
        )
        for task in tasks.values():
            task.kill()
    return found


# %% explore=true
if importlib.util.find_spec("tensorflow") is None:
    print("TensorFlow is not installed here: skipped.")
else:
    w, done, places = with_tensorflow()
    share = np.mean((x_validation @ w).argmax(axis=1) == y_validation)
    print(f"{done} of 300 steps counted; accuracy {share:.3f}, a linear model")
    for place in places:
        print("a shard lies on", place)

# %% [markdown]
# One shard lies on each task of the job `ps`. `assign_add` and `assign_sub` run on the `ps`, one after the other for each variable,
# so no step is lost; but nobody promises in which order, and a worker reads shards while others change them.
# TensorFlow's synchronous way over several machines is now `MultiWorkerMirroredStrategy`: an all-reduce.

# %% [markdown]
# ### Optional F. With a GPU (10 minutes)
#
# On a GPU many workers fit side by side, as one batch of matrices. The next cell is Experiment 5's local SGD in another size,
# with the same number of steps in ever fewer rounds. Does it matter how seldom they talk, as long as all draw from the same images?


# %% explore=true
def replicas(every, workers, hidden, rounds, seed=0, rate=0.5):
    """Return the accuracy of the mean of many workers on this device."""
    where, generator = device(), torch.Generator().manual_seed(seed)
    x, y = torch.from_numpy(x_train), torch.from_numpy(y_train).long()
    shapes = [((64, hidden), (2 / 64) ** 0.5), ((hidden, 10), hidden**-0.5)]
    layers = [
        (size * torch.randn(shape, generator=generator)).to(where)
        for shape, size in shapes
    ]
    for _ in range(rounds):
        own = [w.repeat(workers, 1, 1).requires_grad_() for w in layers]
        for _ in range(every):
            batch = torch.randint(len(y), (workers, 16), generator=generator)
            scores = (x[batch].to(where) @ own[0]).relu() @ own[1]
            targets = y[batch].to(where).flatten()
            loss = torch.nn.functional.cross_entropy(
                scores.flatten(0, 1), targets, reduction="sum"
            )
            for w, found in zip(
                own, torch.autograd.grad(loss, own), strict=True
            ):
                w.data -= rate / 16 * found
        layers = [w.detach().mean(dim=0) for w in own]
    scores = (torch.from_numpy(x_validation).to(where) @ layers[0]).relu()
    guess = (scores @ layers[1]).argmax(dim=1).cpu().numpy()
    return float(np.mean(guess == y_validation))


# %% explore=true
from labkit import recorded

workers, hidden, seeds = scale(cpu=(8, 32, 3), gpu=(64, 1024, 1))
if device() == "cpu":
    print("No GPU here: a small size instead of 64 workers with 1024 units.")
print(f"{workers} workers, {hidden} hidden units, 128 steps each")
for every in (1, 8, 32):
    rounds = 128 // every
    found = [replicas(every, workers, hidden, rounds, s) for s in range(seeds)]
    each = "  ".join(f"{share:.3f}" for share in found)
    print(f"{every:3} steps alone, {rounds:3} rounds: {each}")
if device() == "cpu":
    print(recorded("13_consistency"))

# %% [markdown]
# It hardly matters: on a CPU the rows differ no more than the seeds of one row, in the run recorded on a GPU by one image.
# With the same images for all, 128 steps do not take workers far apart; with classes of one's own (Experiment 5) they do.
