"""Imported by a process off which ranks are forked: it keeps the code of its libraries, once for all of them.

Nothing else imports it, so that nothing else reads all of torch.
"""

import sys

from autograder.boundary.kept_modules import LIBRARIES

__all__: list[str] = []

LIBRARIES.keep({"numpy", "pandas", "scipy", "torch"} & sys.modules.keys())
