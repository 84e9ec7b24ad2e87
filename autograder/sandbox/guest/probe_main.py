"""Exits with 0 when run inside a sandbox where the Python environment, ipykernel included, can be found."""

import importlib.util
import sys

sys.exit(None if importlib.util.find_spec("ipykernel") else "ipykernel cannot be read from inside the sandbox")
