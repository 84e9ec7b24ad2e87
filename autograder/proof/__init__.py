"""How much a lab's checks prove: other answers, tried by the hundred in forks of one process that has run the lab.

Neither sandbox nor boundary: what runs here is the instructor's own.
"""

from __future__ import annotations

from autograder.proof.prepared import Outcome, Prepared
from autograder.proof.reach import reached

__all__ = ["Outcome", "Prepared", "reached"]
