"""Look at this machine and installation, and say for each thing whether the labs will work and what to do if not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from labkit.doctor import accelerator, machine, places, software
from labkit.doctor.finding import Finding

__all__ = ["SECTIONS", "Finding", "Probe", "examine"]

Probe = Callable[[], list[Finding]]

SECTIONS: Mapping[str, Sequence[Probe]] = {
    "Python": [software.python],
    "Packages": [software.packages],
    "Machine": [machine.processor, machine.memory, machine.disk, machine.shared_memory, machine.loopback],
    "Accelerator": [accelerator.accelerator, accelerator.compiler, accelerator.keras],
    "Notebooks": [software.kernel, software.extensions],
    "Data": [places.writable, places.data_sets],
    "Grading": [places.sandbox],
}


def examine(sections: Mapping[str, Sequence[Probe]] = SECTIONS) -> dict[str, list[Finding]]:
    """Return all findings by section. A probe that fails itself becomes a warning; none stops the others."""
    with ThreadPoolExecutor() as pool:
        running = {title: [pool.submit(_isolated, probe) for probe in probes] for title, probes in sections.items()}
        return {title: [found for part in parts for found in part.result()] for title, parts in running.items()}


def _isolated(probe: Probe) -> list[Finding]:
    try:
        return probe()
    except Exception as error:
        words = " ".join(str(error).split())
        name = probe.__name__.replace("_", " ")
        return [Finding("warn", name, f"could not be examined: {type(error).__name__}: {words}")]
