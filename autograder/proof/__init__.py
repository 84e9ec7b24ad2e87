"""How much a lab's checks prove: other answers, tried by the hundred in forks of one process that has run the lab.

Neither sandbox nor boundary: what runs here is the instructor's own.
"""

from __future__ import annotations

from autograder.proof.equivalent import as_toml, check_living, read_equivalent
from autograder.proof.mutants import Mutant, Task, mutants_of, tasks_of
from autograder.proof.prepared import Outcome, Prepared
from autograder.proof.reach import reached
from autograder.proof.record import Record, read_records, record_of, source_hash
from autograder.proof.survivors import one_of_each, show
from autograder.proof.trials import Notes, Trial, code_of, try_all

__all__ = [
    "Mutant",
    "Notes",
    "Outcome",
    "Prepared",
    "Record",
    "Task",
    "Trial",
    "as_toml",
    "check_living",
    "code_of",
    "mutants_of",
    "one_of_each",
    "reached",
    "read_equivalent",
    "read_records",
    "record_of",
    "show",
    "source_hash",
    "tasks_of",
    "try_all",
]
