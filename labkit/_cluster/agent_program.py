"""An agent of torchrun on one node: the nodes get their ranks in the order of the hosts file.

torchrun's own rendezvous sorts nodes by their addresses, as text. Files that rank 0 writes would lie on any of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labkit._launch.torchrun_agents import ending_with


def main() -> int:
    """Run torchrun; write how the ranks failed, if they did. Arguments: options as JSON, then a rank's command."""
    request, command = json.loads(sys.argv[1]), sys.argv[2:]
    with ending_with(request["parent"], request["mark"]):
        return _run(request, command)


def _run(request: Mapping[str, Any], command: Sequence[str]) -> int:
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.elastic.rendezvous import rendezvous_handler_registry

    rendezvous_handler_registry.register("ordered", _handler)
    options = [f"--{name}={value}" for name, value in request["options"].items()]
    try:
        run.main([*options, "--no-python", *command])
    except ChildFailedError as error:
        failures = {rank: failure.exitcode for rank, failure in error.failures.items()}
        Path(request["report"]).write_text(json.dumps(failures), encoding="utf-8")
        return 1
    return 0


def _handler(params: Any) -> Any:
    """Return torchrun's c10d rendezvous of nodes whose "addresses" are their numbers; config: `number`, `first`."""
    from torch.distributed.elastic.rendezvous import (
        RendezvousInfo,
        RendezvousParameters,
        rendezvous_handler_registry,
    )
    from torch.distributed.elastic.rendezvous.api import RendezvousStoreInfo

    names = ("endpoint", "run_id", "min_nodes", "max_nodes")
    own = dict(params.config)
    number, first = int(own.pop("number")), str(own.pop("first"))
    same = {name: getattr(params, name) for name in names}
    inner = RendezvousParameters("c10d", **same, local_addr=f"{number:06d}", **own)
    handler = rendezvous_handler_registry.create_handler(inner)
    join = handler.next_rendezvous

    def next_rendezvous() -> Any:
        """Join; rank 0's store is at the first node's address, which here is a number."""
        found = join()
        known = found.bootstrap_store_info
        if known is None:
            raise RuntimeError("the rendezvous names no port")
        store = RendezvousStoreInfo(first, known.master_port)
        return RendezvousInfo(found.store, found.rank, found.world_size, store)

    handler.next_rendezvous = next_rendezvous  # type: ignore[method-assign]
    handler.get_backend = lambda: str(params.backend)  # type: ignore[method-assign]
    return handler


if __name__ == "__main__":
    sys.exit(main())
