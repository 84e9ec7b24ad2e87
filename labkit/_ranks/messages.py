"""How gloo, NCCL, the rendezvous and torchrun's agents write that a rank is not the one to blame."""

from __future__ import annotations

import re

__all__ = ["LOG", "LOST", "UNEQUAL"]

LOST = re.compile(
    r"Connection (closed|reset|refused)|Broken pipe|remote process exited|Socket (Timeout|closed)|NCCL.*(abort|remote)"
    r"|Rendezvous(Closed|Connection|Timeout)Error|recvValue failed|sendBytes failed",
    re.IGNORECASE,
)
"""The other side of a connection has gone."""

UNEQUAL = re.compile(r"Received data size doesn't match expected size")
"""More bytes came than the call takes that they came for; gloo then aborts."""

LOG = re.compile(r"[WEI]\d{4} |\[[WEI]\d{4} |\[/\S+\.c(pp|c)|\[/__w/pytorch/|\*{5}")
"""The beginning of a line of the log of agents and of gloo."""
