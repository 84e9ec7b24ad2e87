"""A queue of trials in a storage of Optuna's for lab 10: two processes empty it, and one of them is killed."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labkit._background import background

__all__ = ["outcome", "work_off"]

_ROUNDS = 20


def work_off(objective: Callable[[Any], float], configs: Sequence[Mapping[str, Any]]) -> tuple[list[Any], float]:
    """Run a trial for each configuration in two processes, one of which is killed; return trials and seconds.

    objective: Optuna's, which prints "epoch 2 of ..." after a trial's second epoch; a trial has its number in
    `user_attrs["number"]`, and one without was not in the queue. A trial that was lost is in the result twice.
    """
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder, 'study.db')}"
        study = _open(url)
        _enqueue(study, configs, range(len(configs)))
        start = time.perf_counter()
        with background(_worker, objective, url) as one, background(_worker, objective, url) as two:
            one.find("epoch 2 of")  # in a trial that went on
            one.kill()
            print(f"killed: {one!r}")
            two.wait()
        print(f"emptied the queue: {two!r}")
        _finish(study, objective, configs, url)
        return _ours(study), time.perf_counter() - start


def outcome(ended: Sequence[Any]) -> str:
    """Say what became of the trials, as `work_off` returns them."""
    states = [trial.state.name.lower() for trial in ended]
    lines = [", ".join(f"{state}: {states.count(state)}" for state in sorted(set(states)))]
    last = {trial.user_attrs["number"]: state for trial, state in zip(ended, states, strict=True)}
    failed = [trial.user_attrs["number"] for trial, state in zip(ended, states, strict=True) if state == "fail"]
    lines += [f"trial {number} was interrupted; then: {last[number]}" for number in failed]
    done = sum(state != "fail" for state in last.values())
    epochs = sum(len(trial.intermediate_values) for trial in ended)
    return "\n".join([*lines, f"{done} of {len(last)} trials have a result, after {epochs} epochs"])


def _open(url: str) -> Any:
    """Return the study that a storage holds, or a new one."""
    import optuna
    from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback
    from sqlalchemy import event

    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = RDBStorage(
        url,
        engine_kwargs={"connect_args": {"timeout": 30}},
        heartbeat_interval=1,
        grace_period=2,
        heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(),
    )

    def begin_by_hand(connection: Any, _: object) -> None:
        connection.isolation_level = None

    def take_the_lock(connection: Any) -> None:  # or two workers see one trial waiting
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    event.listen(storage.engine, "connect", begin_by_hand)
    event.listen(storage.engine, "begin", take_the_lock)
    storage.engine.dispose()  # connections from before
    pruner = optuna.pruners.SuccessiveHalvingPruner(1, reduction_factor=3)  # ASHA
    return optuna.create_study(study_name="queue", storage=storage, pruner=pruner, load_if_exists=True)


def _worker(objective: Callable[[Any], float], url: str) -> None:
    """Take waiting trials until there are none."""
    _open(url).optimize(objective)


def _ours(study: Any) -> list[Any]:
    """Return the trials that came from the queue."""
    return [trial for trial in study.trials if "number" in trial.user_attrs]


def _enqueue(study: Any, configs: Sequence[Mapping[str, Any]], numbers: Sequence[int] | set[int]) -> None:
    for number in numbers:
        study.enqueue_trial(dict(configs[number]), user_attrs={"number": number})


def _lost(study: Any, count: int) -> set[int]:
    """Return the numbers of trials that failed and wait no more."""
    alive = [trial for trial in _ours(study) if trial.state.name != "FAIL"]
    return {*range(count)} - {trial.user_attrs["number"] for trial in alive}


def _give_up(study: Any) -> None:
    """Fail what nobody runs: who was killed before a heartbeat has none."""
    import optuna

    for trial in _ours(study):
        if trial.state.name == "RUNNING":
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)


def _finish(study: Any, objective: Callable[[Any], float], configs: Sequence[Mapping[str, Any]], url: str) -> None:
    """Run again what was lost, until every trial has ended."""
    import optuna

    for turn in range(_ROUNDS):
        if turn > 1:
            _give_up(study)
        _enqueue(study, configs, again := _lost(study, len(configs)))
        if not again and all(trial.state.is_finished() for trial in _ours(study)):
            return
        optuna.storages.fail_stale_trials(study)
        with background(_worker, objective, url) as third:
            third.wait()
