"""How much is tried: `make test` takes a choice that finds most, `make test-all` everything."""

from __future__ import annotations

import os

__all__ = ["ALL"]

ALL = float(os.environ.get("AUTOGRADER_FUZZ_S", "8")) >= 60
"""Whether this is `make test-all`."""
