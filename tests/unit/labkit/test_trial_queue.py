"""What is said of a queue of trials; the queue itself, in processes, is tests/labs/test_search_processes.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from labkit import trial_queue


def _trial(number: int, state: str, epochs: int) -> Any:
    losses = dict.fromkeys(range(epochs), 1.0)
    return SimpleNamespace(user_attrs={"number": number}, state=SimpleNamespace(name=state), intermediate_values=losses)


def test_an_outcome_counts_states_and_says_what_became_of_who_was_interrupted() -> None:
    ended = [_trial(0, "FAIL", 2), _trial(1, "PRUNED", 1), _trial(2, "COMPLETE", 9), _trial(0, "PRUNED", 3)]
    assert trial_queue.outcome(ended).splitlines() == [
        "complete: 1, fail: 1, pruned: 2",
        "trial 0 was interrupted; then: pruned",
        "3 of 3 trials have a result, after 15 epochs",
    ]


def test_a_trial_that_was_lost_for_good_has_no_result() -> None:
    assert trial_queue.outcome([_trial(0, "FAIL", 2), _trial(1, "COMPLETE", 9)]).endswith(
        "trial 0 was interrupted; then: fail\n1 of 2 trials have a result, after 11 epochs"
    )
