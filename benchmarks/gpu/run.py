"""Plays all solutions at once, each in a process of its own, and gives the machine to one GPU cell at a time."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.common import folder

__all__ = ["KEPT", "main"]

KEPT = Path(__file__).with_name("kept.json")
_ROOT = Path(__file__).parents[2]


@dataclass
class _Player:
    """One lab's process, its two pipes, and the file in which it keeps what its cells did."""

    lab: str
    process: subprocess.Popen[bytes]
    asks: int
    answers: int
    kept: Path
    log: Path


def main(labs: Sequence[str], seconds: float, into: str) -> int:
    """Run the labs, print a line for each, keep the record; 1 if a check failed or a lab did not come to its end."""
    labs = list(labs) or sorted(path.parent.name for path in folder("").glob("*/lab.toml"))
    unknown = [lab for lab in labs if not (folder(lab) / "lab.toml").exists()]
    if unknown:
        raise SystemExit(f"{', '.join(unknown)}: no such lab in {folder('')}")
    with tempfile.TemporaryDirectory() as directory:
        players = [_start(lab, Path(directory)) for lab in labs]
        _in_turn(players, time.monotonic() + seconds)
        found = {player.lab: _end(player) for player in players}
    keep(Path(into), {lab: summary(one) for lab, one in found.items()})
    for lab, cells in found.items():
        print(_line(lab, cells))
    return int(any(_failed(cells) for cells in found.values()))


def _start(lab: str, directory: Path) -> _Player:
    asks, child_asks = os.pipe()
    child_answers, answers = os.pipe()
    kept, log = directory / f"{lab}.json", directory / f"{lab}.log"
    command = [sys.executable, "-m", "benchmarks.gpu.play", lab, str(kept), str(child_asks), str(child_answers)]
    with log.open("wb") as said:
        process = subprocess.Popen(
            command,
            cwd=_ROOT,
            env=os.environ | {"MPLBACKEND": "agg", "PYTHONUNBUFFERED": "1", "PYTHONPATH": _path()},
            stdout=said,
            stderr=subprocess.STDOUT,
            pass_fds=(child_asks, child_answers),
            start_new_session=True,
        )
    os.close(child_asks)
    os.close(child_answers)
    return _Player(lab, process, asks, answers, kept, log)


def _path() -> str:
    return os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH", ""))))


def _in_turn(players: Sequence[_Player], deadline: float) -> None:
    """Answer who waits for a GPU cell when nobody else runs; return when all have ended or the time is up."""
    busy, waiting = {player.asks: player for player in players}, []
    with selectors.DefaultSelector() as pipes:
        for player in players:
            pipes.register(player.asks, selectors.EVENT_READ)
        while pipes.get_map():
            ready = pipes.select(timeout=max(0.0, deadline - time.monotonic()))
            if not ready:
                return
            for key, _ in ready:
                player = busy.pop(key.fd)
                if os.read(key.fd, 1):
                    waiting.append(player)
                else:
                    pipes.unregister(key.fd)
            if not busy and waiting:
                player = waiting.pop(0)
                busy[player.asks] = player
                os.write(player.answers, b"!")


def _end(player: _Player) -> dict[str, Any]:
    """End a player's processes; return its cells, and how it ended if not by itself."""
    try:
        code: int | None = player.process.wait(5)
    except subprocess.TimeoutExpired:
        code = None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(player.process.pid, signal.SIGKILL)
    player.process.wait()
    for pipe in (player.asks, player.answers):
        os.close(pipe)
    cells = json.loads(player.kept.read_text(encoding="utf-8")) if player.kept.exists() else []
    ended = "" if code == 0 else "the time was up" if code is None else f"exit code {code}"
    said = player.log.read_text(encoding="utf-8", errors="replace")[-2000:] if ended else ""
    return {"ended": ended, "said": said, "cells": cells}


def _failed(found: dict[str, Any]) -> bool:
    return bool(found["ended"]) or any(cell["check"] and cell["error"] for cell in found["cells"])


def _line(lab: str, found: dict[str, Any]) -> str:
    cells = found["cells"]
    checks = [cell for cell in cells if cell["check"]]
    passed = sum(not cell["error"] for cell in checks)
    parts = [
        f"{lab:24} {sum(cell['seconds'] for cell in cells):6.1f} s,",
        f"{passed} of {len(checks)} checks pass,",
        f"{sum(cell['gpu'] for cell in cells)} GPU cells",
        f"- {found['ended']}" if found["ended"] else "",
    ]
    lines = [" ".join(filter(None, parts))]
    lines += [f"    line {cell['line']}, {cell['cell']}: {cell['error'][:300]}" for cell in cells if cell["error"]]
    return "\n".join(lines)


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """Return of a lab's cells what is kept: seconds, checks, what raised, and what its GPU cells printed."""
    cells = found["cells"]
    checks = [cell for cell in cells if cell["check"]]
    on_gpu = [cell for cell in cells if cell["gpu"]]
    first = next((number for number, cell in enumerate(on_gpu) if cell["says"]), len(on_gpu))
    raised = [cell["error"].splitlines()[0] for cell in cells if cell["error"]]
    return {
        "seconds": round(sum(cell["seconds"] for cell in cells), 1),
        "checks": [sum(not cell["error"] for cell in checks), len(checks)],
        "raised": [*raised, *filter(None, [found["ended"]])],
        "printed": [cell["printed"].rstrip() for cell in on_gpu],
        "last": len(on_gpu) - first,  # from the cell on that says without a GPU what is left out
    }


def keep(path: Path, labs: dict[str, dict[str, Any]]) -> None:
    """Write the labs' summaries beside those of labs that were not run now, if it was the same GPU."""
    machine = _machine()
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if before.get("hardware") != machine["hardware"]:
        before = {}  # what was kept of another GPU says nothing of this one
    record = before | machine | {"labs": dict(sorted((before.get("labs", {}) | labs).items()))}
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _machine() -> dict[str, Any]:
    """Return the date, the hardware and the libraries' versions."""
    import torch  # noqa: F401  a card names what is loaded

    from labkit import result_card

    with tempfile.TemporaryDirectory() as directory:
        card = result_card("the machine", 1.0, path=directory)
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "hardware": dict(card.hardware), "versions": dict(card.versions)}
