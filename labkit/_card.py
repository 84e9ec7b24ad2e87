"""Result cards: one number with its spread, its claim, how it was found, and the machine it was found on."""

from __future__ import annotations

import json
import math
import operator
import os
import platform
import re
import sys
import tempfile
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, SupportsFloat, SupportsIndex

__all__ = ["Card", "result_card"]

_LARGEST_FILE = 64 * 1024
_KINDS = ("measured", "counted", "modelled")
_LIBRARIES = ("numpy", "torch", "tensorflow", "keras", "sklearn")


@dataclass(frozen=True)
class Card:
    """One number. `spread`: standard deviation over the `n` runs, or another one that `note` names."""

    claim: str
    value: float
    unit: str = ""
    n: int = 1
    spread: float | None = None
    seed_value: float | str | None = None
    source: str = ""
    lab: str = ""
    note: str = ""
    kind: str = "measured"
    date: str = ""
    hardware: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> Card:
        """Return the card in a JSON file; unknown entries are ignored.

        Raises OSError if the file cannot be read and ValueError, with the file and the entry, if it is no card.
        """
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
        if len(data) > _LARGEST_FILE:
            raise ValueError(f"{path}: larger than {_LARGEST_FILE // 1024} KiB\nhint: a result card is about 1 KiB")
        try:
            entries = json.loads(data)
            if not isinstance(entries, dict):
                raise ValueError(f"expected an object, got {type(entries).__name__}")
            for name in ("claim", "value"):
                if name not in entries:
                    raise ValueError(f"{name}: is missing")
            return _checked(cls(**{name: entries[name] for name in cls.__dataclass_fields__ if name in entries}))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: not a result card: {error}\nhint: write cards with labkit.result_card") from None

    def write(self, path: str | Path) -> None:
        """Write the card as JSON, whole or not at all. Raises OSError."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".card-") as folder:
            whole = Path(folder, path.name)
            whole.write_text(text, encoding="utf-8")
            whole.replace(path)

    @property
    def number(self) -> str:
        """The value with its spread, unit and number of runs, for a person."""
        unit = f" {self.unit}" if self.unit else ""
        if self.spread is None:
            return f"{_short(self.value)}{unit}{f', {self.n} runs' if self.n > 1 else ''}"
        return f"{_short(self.value)} ± {_short(self.spread, 2)}{unit}, {self.n} runs"

    @property
    def reference(self) -> str:
        """The seed document's number and where it stands, or ""."""
        if self.seed_value is None:
            return self.source
        unit = f" {self.unit}" if self.unit and not isinstance(self.seed_value, str) else ""
        value = self.seed_value if isinstance(self.seed_value, str) else _short(self.seed_value)
        return f"{value}{unit}" + (f" ({self.source})" if self.source else "")

    def _rows(self) -> list[tuple[str, str]]:
        hardware = [self.hardware.get(part, "") for part in ("cpu", "cores", "gpu")]
        rows = [
            (self.kind, self.number),
            ("reported", self.reference),
            ("note", self.note),
            ("machine", ", ".join(text for text in hardware if text)),
            ("software", ", ".join(f"{name} {version}" for name, version in self.versions.items())),
            ("date", self.date),
        ]
        return [(name, text) for name, text in rows if text]

    def __str__(self) -> str:
        title = f"{self.lab}: {self.claim}" if self.lab else self.claim
        return "\n".join([title, *(f"  {name:<9} {text}" for name, text in self._rows())])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        line = "<tr style='background:none'><td style='text-align:left;opacity:.7;padding:1px 12px 1px 0'>{}</td>"
        line += "<td style='text-align:left;padding:1px 0{}'>{}</td></tr>"
        rows = "".join(
            line.format(name, ";font-weight:bold;font-size:115%" if name == self.kind else "", escape(text))
            for name, text in self._rows()
        )
        lab = f"<div style='opacity:.7;font-size:90%'>{escape(self.lab)}</div>" if self.lab else ""
        return (
            "<div style='display:inline-block;max-width:44em;border:1px solid #8888;border-left:4px solid #0072b2;"
            f"border-radius:4px;padding:8px 14px'>{lab}<div style='font-size:110%;margin-bottom:4px'>"
            f"{escape(self.claim)}</div><table style='margin:0;border:0'>{rows}</table></div>"
        )


def result_card(
    claim: str,
    value: SupportsFloat,
    *,
    unit: str = "",
    n: SupportsIndex = 1,
    spread: SupportsFloat | None = None,
    seed_value: SupportsFloat | str | None = None,
    source: str = "",
    lab: str = "",
    note: str = "",
    kind: str = "measured",
    path: str | Path | None = None,
) -> Card:
    """Return a number as a card, and save it; as a cell's last line it is shown.

    claim: what the number is, as a sentence. value: the number, the median or mean of `n` independent runs.
    spread: their standard deviation, in the same unit; say so in `note` if it is another measure.
    seed_value, source: the number that a paper or talk reports, and which one. lab: the lab's folder name.
    kind: "measured", "counted", or "modelled" where it follows from a formula, even one of measured numbers.
    path: a .json file, or a folder; by default the folder that LABKIT_CARDS names, else `cards` in the working
    directory. The file is named after lab and claim, so a repeated run replaces its card. Where it cannot be
    written, one printed line says so, and the card is returned all the same.

    Raises ValueError for an empty claim, a number that is not finite, n < 1, a spread of fewer than two runs, or
    another kind, and TypeError for a value that is not one number.
    """
    card = Card(
        claim=claim,
        value=_number("value", value),
        unit=unit,
        n=operator.index(n),
        spread=None if spread is None else _number("spread", spread),
        seed_value=seed_value if isinstance(seed_value, str | None) else _number("seed_value", seed_value),
        source=source,
        lab=lab,
        note=note,
        kind=kind,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        hardware=_hardware(),
        versions=_versions(),
    )
    try:
        _checked(card)
    except ValueError as error:
        raise ValueError(f"result_card: {error}") from None
    target = _target(card, path)
    try:
        card.write(target)
    except OSError as error:
        print(f"result_card: not saved, {target}: {error.strerror or error} (set LABKIT_CARDS to a writable folder)")
    return card


def _target(card: Card, path: str | Path | None) -> Path:
    chosen = Path(path if path is not None else os.environ.get("LABKIT_CARDS") or "cards").expanduser()
    if chosen.suffix == ".json":
        return chosen
    words = re.sub(r"[^a-z0-9]+", "-", f"{card.lab} {card.claim}".lower()).strip("-")
    return chosen / f"{words[:80].rstrip('-') or 'card'}.json"


def _number(name: str, value: SupportsFloat) -> float:
    """Return a number of any library, zero-dimensional arrays and tensors too, as a Python number."""
    if isinstance(value, bool | str):
        raise TypeError(f"result_card: {name}: expected one number, got {value!r}")
    if isinstance(value, int):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"result_card: {name}: expected one number, got {type(value).__name__}") from None


def _checked(card: Card) -> Card:
    """Return the card if every entry has its type and range. Raises ValueError that names the entry."""
    for entry in fields(Card):
        _check_type(entry.name, getattr(card, entry.name))
    if not card.claim.strip():
        raise ValueError("claim: expected a sentence, got an empty text")
    if card.kind not in _KINDS:
        raise ValueError(f"kind: expected one of {', '.join(_KINDS)}; got {card.kind!r:.60}")
    if card.n < 1:
        raise ValueError(f"n: expected at least 1 run, got {card.n}")
    if card.spread is not None and (card.spread < 0 or card.n < 2):
        raise ValueError(f"spread: expected at least 0, of at least 2 runs; got {card.spread}, n={card.n}")
    return card


def _check_type(name: str, value: object) -> None:
    if name in ("hardware", "versions"):
        wanted = "an object of texts"
        good = isinstance(value, dict) and all(isinstance(part, str) for item in value.items() for part in item)
    elif name == "n":
        wanted, good = "an integer", type(value) is int
    elif name == "value":
        wanted, good = "a finite number", _finite(value)
    elif name == "spread":
        wanted, good = "a finite number or none", value is None or _finite(value)
    elif name == "seed_value":
        wanted, good = "a finite number, a text or none", value is None or isinstance(value, str) or _finite(value)
    else:
        wanted, good = "a text", isinstance(value, str)
    if not good:
        raise ValueError(f"{name}: expected {wanted}, got {value!r:.60}")


def _finite(value: object) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def _hardware() -> dict[str, str]:
    from labkit import _machine
    from labkit._device import device

    # Work done without PyTorch was done on the CPU; loading it now would only cost a second.
    torch = sys.modules.get("torch")
    where = device() if torch else "cpu"
    gpu = torch.cuda.get_device_name() if torch and where == "cuda" else ""
    cores = _machine.cores()
    return {
        "cpu": _machine.cpu_model(),
        "cores": f"{cores:g} core{'s' * (cores != 1)}",
        "gpu": gpu,
        "device": where,
    }


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that are loaded."""
    loaded = {name: str(getattr(sys.modules.get(name), "__version__", "")) for name in _LIBRARIES}
    return {"python": platform.python_version(), **{name: version for name, version in loaded.items() if version}}


def _short(value: float, digits: int = 4) -> str:
    """Return a number with some significant digits, thousands set apart."""
    if isinstance(value, int) or (abs(value) >= 10**digits and abs(value) < 1e15):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"
