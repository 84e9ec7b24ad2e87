"""Result cards: what they keep, how they look, and what is no card."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit._card import Card, result_card


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cards go here."""
    monkeypatch.setenv("LABKIT_CARDS", str(tmp_path / "cards"))
    return tmp_path / "cards"


def test_a_card_read_back_is_the_card_written(folder: Path) -> None:
    card = result_card(
        "Digits test accuracy",
        np.float32(0.97),
        n=10,
        spread=0.003,
        seed_value=">= 96 %",
        source="A",
        lab="01_numpy_mlp",
        note="seeds 0 to 9",
    )
    assert Card.read(folder / "01-numpy-mlp-digits-test-accuracy.json") == card


def test_the_file_holds_number_machine_versions_and_date_in_a_fixed_order(folder: Path) -> None:
    result_card("a claim", 3)
    entries = json.loads((folder / "a-claim.json").read_text())
    assert list(entries) == list(Card.__dataclass_fields__)
    assert list(entries["hardware"]) == ["cpu", "cores", "gpu", "device"]
    assert entries["versions"]["numpy"] == np.__version__
    assert (entries["value"], entries["n"], entries["spread"], entries["seed_value"]) == (3, 1, None, None)
    assert len(entries["date"]) == 10


def test_two_cards_of_one_day_are_byte_identical(tmp_path: Path) -> None:
    for name in ("one", "two"):
        result_card("a claim", 0.1, path=tmp_path / f"{name}.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_a_repeated_run_replaces_its_card_and_leaves_nothing_else(folder: Path) -> None:
    result_card("speed-up of 4 × 4", 1.0)
    result_card("speed-up of 4 × 4", 2.0)
    assert [path.name for path in folder.iterdir()] == ["speed-up-of-4-4.json"]
    assert Card.read(folder / "speed-up-of-4-4.json").value == 2.0


def test_the_default_folder_stands_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABKIT_CARDS")
    monkeypatch.chdir(tmp_path)
    result_card("x", 1)
    assert (tmp_path / "cards" / "x.json").is_file()


def test_path_names_a_folder_or_a_file(tmp_path: Path) -> None:
    result_card("x", 1, path=tmp_path / "some")
    result_card("x", 1, path=str(tmp_path / "other" / "file.json"))
    assert (tmp_path / "some" / "x.json").is_file()
    assert (tmp_path / "other" / "file.json").is_file()


def test_a_disk_that_cannot_be_written_costs_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    card = result_card("x", 1, path=tmp_path / "file" / "below")
    assert card.value == 1
    out, err = capsys.readouterr()
    assert out.startswith("result_card: not saved, ")
    assert (out.count("\n"), err) == (1, "")


@pytest.mark.parametrize("value", [1.5, np.float64(1.5), np.array(1.5), np.float32(1.5)])
def test_numbers_of_numpy_are_numbers(value: Any) -> None:
    card = result_card("x", value, seed_value=value, n=np.int64(3), spread=value)
    assert (card.value, card.seed_value, card.spread, card.n) == (1.5, 1.5, 1.5, 3)
    assert type(card.n) is int


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"claim": "  "}, "claim: expected a sentence, got an empty text"),
        ({"claim": None}, "claim: expected a text, got None"),
        ({"value": float("nan")}, "value: expected a finite number, got nan"),
        ({"value": float("inf")}, "value: expected a finite number, got inf"),
        ({"value": 10**400}, "value: expected a finite number"),
        ({"value": "0.97"}, "value: expected one number, got '0.97'"),
        ({"value": True}, "value: expected one number, got True"),
        ({"value": [1.0, 2.0]}, "value: expected one number, got list"),
        ({"n": 0}, "n: expected at least 1 run, got 0"),
        ({"spread": 0.1}, "spread: expected at least 0, of at least 2 runs; got 0.1, n=1"),
        ({"spread": -0.1, "n": 5}, "spread: expected at least 0"),
        ({"seed_value": float("nan")}, "seed_value: expected a finite number, a text or none"),
        ({"unit": 3}, "unit: expected a text, got 3"),
    ],
)
def test_what_is_no_result_is_refused_by_name(options: dict[str, Any], words: str, folder: Path) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        result_card(**{"claim": "x", "value": 1.0, **options})
    assert str(caught.value).startswith(f"result_card: {words}")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Expecting value"),
        ("[1]", "expected an object, got list"),
        ('{"claim": "x"}', "value: is missing"),
        ('{"claim": "x", "value": NaN}', "value: expected a finite number"),
        ('{"claim": "x", "value": 1e999}', "value: expected a finite number"),
        ('{"claim": "x", "value": 1, "n": "three"}', "n: expected an integer, got 'three'"),
        ('{"claim": "x", "value": 1, "n": true}', "n: expected an integer, got True"),
        ('{"claim": "x", "value": 1, "hardware": {"cpu": 3}}', "hardware: expected an object of texts"),
        ("[" * 60_000, "not a result card"),
        (" " * 70_000, "larger than 64 KiB"),
        ("\xff", "not a result card"),
    ],
)
def test_a_foreign_file_is_refused_with_its_name(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match="hint: ") as caught:
        Card.read(path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)


def test_unknown_entries_of_a_foreign_file_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text('{"claim": "x", "value": 2, "colour": "blue"}')
    assert Card.read(tmp_path / "card.json") == Card("x", 2)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Card.read(tmp_path / "none.json")


# --------------------------------------------------------------------------------------------------------------- looks
@pytest.mark.parametrize(
    ("card", "number"),
    [
        (Card("x", 0.97123, spread=0.00312, n=10), "0.9712 ± 0.0031, 10 runs"),
        (Card("x", 12345.6, "bytes"), "12,346 bytes"),
        (Card("x", 63488, "codes"), "63,488 codes"),
        (Card("x", 4.5, "x", n=3), "4.5 x, 3 runs"),
        (Card("x", 1e-7), "1e-07"),
    ],
)
def test_the_number_is_shown_with_spread_unit_and_runs(card: Card, number: str) -> None:
    assert card.number == number


def test_our_number_stands_above_the_reported_one() -> None:
    text = str(Card("GPU speed-up", 12.0, "x", seed_value=10.0, source="A, slide 12", lab="04_gpu_training"))
    assert text.splitlines() == [
        "04_gpu_training: GPU speed-up",
        "  measured  12 x",
        "  reported  10 x (A, slide 12)",
    ]


def test_what_a_model_says_is_not_called_measured(folder: Path) -> None:
    card = result_card("efficiency of 16 ranks", 0.9, kind="modelled")
    assert str(card).splitlines()[1] == "  modelled  0.9"
    assert "measured" not in card._repr_html_()
    assert Card.read(folder / "efficiency-of-16-ranks.json").kind == "modelled"
    with pytest.raises(ValueError, match="kind: expected one of measured, counted, modelled; got 'guessed'"):
        result_card("x", 1, kind="guessed")


def test_texts_are_escaped_in_html() -> None:
    evil = "<script>alert(1)</script>"
    html = Card(evil, 1.0, evil, seed_value=evil, source=evil, lab=evil, note=evil)._repr_html_()
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") == 6


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_costs_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    result_card("x", 1, path=tmp_path)
    tmp_path.chmod(0o700)
    assert "Permission denied" in capsys.readouterr().out
