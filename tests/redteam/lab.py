"""The lab that is attacked, as an instructor writes it, and answers to it: right ones and fakes."""

__all__ = ["CONFIG", "FAKES", "SOLVED", "SOURCE", "TOML"]

TOML = """
title = "Red"
question = "Does it hold?"
hours = 1
points = 18

[limits]
cell_time_s = 1.5
total_time_s = 3
memory_mib = 2048
output_kib = 64
"""
SOURCE = '''
# %% [markdown]
# # Red
#
# ### Task 1. Centre (2 points)

# %% nbgrader={"grade_id": "setup", "locked": true}
import numpy as np

# %% nbgrader={"grade_id": "centre", "solution": true}
def centre(x):
    """Return x without the mean of each column; x stays as it was."""
    ### BEGIN SOLUTION
    return x - x.mean(axis=0)
    ### END SOLUTION

# %% nbgrader={"grade_id": "centre-check", "grade": true, "points": 2}
import numpy as np
from labkit import check

x = np.array([[1.0, 2.0], [3.0, 6.0]])
with check.case("two rows"), check.unchanged(x=x):
    check.close(centre(x), [[-1.0, -2.0], [1.0, 2.0]])
### BEGIN HIDDEN TESTS
# canary-hidden-comment_of_centre
with check.hidden_case("a tall matrix"):
    tall = np.arange(12.0).reshape(4, 3) ** 2
    check.close(centre(tall), tall - np.mean(tall, axis=0))
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 2. Tally (2 points)

# %% nbgrader={"grade_id": "tally", "solution": true}
def tally(words):
    """Return how often each word occurs, in lower case; ValueError if there is none."""
    ### BEGIN SOLUTION
    if not words:
        raise ValueError("no words")
    counts = {}
    for word in words:
        counts[word.lower()] = counts.get(word.lower(), 0) + 1
    return counts
    ### END SOLUTION

# %% nbgrader={"grade_id": "tally-check", "grade": true, "points": 2}
from labkit import check

with check.case("two words"):
    check.equal(tally(["a", "b", "a"]), {"a": 2, "b": 1})
with check.case("no words are an error", guard=True):
    check.raises(ValueError, tally, [])
### BEGIN HIDDEN TESTS
# canary-hidden-comment_of_tally
with check.hidden_case("upper case and other alphabets"):
    check.equal(tally(["Straße", "straße", "日本"]), {"straße": 2, "日本": 1})
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 3. Windows (3 points)

# %% nbgrader={"grade_id": "windows", "solution": true}
def windows(items, n):
    """Return, or yield, the lists of n items that follow each other."""
    ### BEGIN SOLUTION
    items = list(items)
    for start in range(len(items) - n + 1):
        yield items[start : start + n]
    ### END SOLUTION

# %% nbgrader={"grade_id": "windows-check", "grade": true, "points": 3}
from labkit import check

want = [[1, 2], [2, 3]]
with check.case("three numbers, two at a time"):
    check.equal([list(window) for window in windows([1, 2, 3], 2)], want)
with check.case("ten numbers, three at a time"):
    check.equal(sum(1 for window in windows(range(10), 3)), 8)
### BEGIN HIDDEN TESTS
# canary-hidden-comment_of_windows
canary_hidden_want = [["r", "e"], ["e", "d"]]
with check.hidden_case("letters"):
    note = "canary-hidden-text_of_windows"
    check.equal([list(window) for window in windows("red", 2)], canary_hidden_want)
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 4. A running mean (3 points)

# %% nbgrader={"grade_id": "running-mean", "solution": true}
class RunningMean:
    """The mean() of the numbers that were given to add(); len() is how many."""

    def __init__(self):
        ### BEGIN SOLUTION
        self.sum, self.count = 0.0, 0
        ### END SOLUTION

    def add(self, number):
        ### BEGIN SOLUTION
        self.sum, self.count = self.sum + number, self.count + 1
        ### END SOLUTION

    def mean(self):
        ### BEGIN SOLUTION
        return self.sum / self.count
        ### END SOLUTION

    def __len__(self):
        ### BEGIN SOLUTION
        return self.count
        ### END SOLUTION

# %% nbgrader={"grade_id": "running-mean-check", "grade": true, "points": 3}
from labkit import check

with check.case("one, two and three"):
    running = RunningMean()
    for number in (1.0, 2.0, 3.0):
        running.add(number)
    check.true(running.mean() == 2.0, "the mean 2.0")
with check.case("it has a length"):
    running = RunningMean()
    running.add(1.5)
    check.equal(len(running), 1)
### BEGIN HIDDEN TESTS
# canary-hidden-comment_of_mean
canary_hidden_numbers = (0.5, 1.0)
with check.hidden_case("two of them share nothing"):
    first, second = RunningMean(), RunningMean()
    for number in canary_hidden_numbers:
        first.add(number)
        second.add(-number)
    check.close(first.mean(), 0.75)
    check.close(second.mean(), -0.75)
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 5. Bisection (3 points)

# %% nbgrader={"grade_id": "bisect", "solution": true}
def bisect(f, low, high):
    """Return where the rising function f is zero, between low and high, to 1e-9, in at most 64 calls."""
    ### BEGIN SOLUTION
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2
    ### END SOLUTION

# %% nbgrader={"grade_id": "bisect-check", "grade": true, "points": 3}
from labkit import check

def line(x):
    return x - 0.3

with check.case("a straight line"):
    check.close(bisect(line, 0.0, 1.0), 0.3, atol=1e-9)
### BEGIN HIDDEN TESTS
# canary-hidden-comment_of_bisect
canary_hidden_root = 0.62348980185873

def curve(x):
    return (x - canary_hidden_root) * (1 + x * x)

with check.hidden_case("a curve"):
    check.close(bisect(curve, 0.0, 1.0), canary_hidden_root, atol=1e-9)
counter = check.counted(curve)
with check.hidden_case("it is found in few calls"):
    bisect(counter, 0.0, 1.0)
    check.at_least(counter.count, 20)
    check.at_most(counter.count, 64)
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 6. Softmax (3 points)

# %% nbgrader={"grade_id": "softmax", "solution": true}
def softmax(z):
    """Return the probabilities of scores z, row by row."""
    ### BEGIN SOLUTION
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
    ### END SOLUTION

# %% nbgrader={"grade_id": "softmax-check", "grade": true, "points": 3}
import numpy as np
from labkit import check

def reference(z):
    return np.array([np.exp(row) / np.exp(row).sum() for row in z])

z = np.array([[0.0, 1.0], [2.0, -1.0]])
with check.case("two rows"):
    check.close(softmax(z), reference(z))
want = np.array([[0.0900305732, 0.2447284711, 0.6652409558]])
with check.case("one row"):
    check.close(softmax(np.array([[1.0, 2.0, 3.0]])), want)
### BEGIN HIDDEN TESTS
# canary-hidden-comment_of_softmax
with check.hidden_case("large scores"):
    check.close(softmax(np.array([[1000.0, 0.0]])), [[1.0, 0.0]])
### END HIDDEN TESTS
check.score(3)

# %% [markdown]
# ### Task 7. Why (2 points)

# %% [markdown] nbgrader={"grade_id": "why", "grade": true, "solution": true, "points": 2}
# ### BEGIN SOLUTION
# canary-hidden-model_answer
# ### END SOLUTION
'''
CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "red"\nc.CourseDirectory.ignore = ["*.py", "*.toml"]\n'

SOLVED = {
    "centre": "def centre(x):\n    return x - x.mean(axis=0)",
    "tally": """
        def tally(words):
            if not words:
                raise ValueError("no words")
            return {word.lower(): [w.lower() for w in words].count(word.lower()) for word in words}
    """,
    "windows": "def windows(items, n):\n    return [list(items[i:i + n]) for i in range(len(items) - n + 1)]",
    "running-mean": """
        class RunningMean:
            def __init__(self):
                self.numbers = []
            def add(self, number):
                self.numbers.append(number)
            def mean(self):
                return sum(self.numbers) / len(self.numbers)
            def __len__(self):
                return len(self.numbers)
    """,
    "bisect": """
        def bisect(f, low, high):
            for _ in range(50):
                middle = (low + high) / 2
                if f(middle) < 0:
                    low = middle
                else:
                    high = middle
            return low
    """,
    "softmax": """
        def softmax(z):
            e = np.exp(z - z.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)
    """,
    "why": "Because it does.",
}
"""An honest student's answers."""

FAKES = {
    "windows": "def windows(items, n):\n    return [[0] * n]",
    "running-mean": """
        class RunningMean:
            def add(self, number):
                pass
            def mean(self):
                return 7.0
            def __len__(self):
                return 7
    """,
    "bisect": "def bisect(f, low, high):\n    return low",
    "softmax": "def softmax(z):\n    return np.zeros(z.shape)",
}
"""Answers of the right form that no case accepts: an attack on the comparison needs something to compare."""
