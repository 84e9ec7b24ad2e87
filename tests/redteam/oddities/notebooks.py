"""Right answers in notebooks that other programs have saved, that lie beside files, or that are written unusually."""

from __future__ import annotations

import json
from typing import Any

from tests.redteam.redlab import SOLVED, Oddity


def _version_4_0(notebook: dict[str, Any]) -> None:
    """Leave out what came with later versions of the format: ids of cells."""
    notebook.update(nbformat_minor=0)
    for cell in notebook["cells"]:
        cell.pop("id", None)


def _colab(notebook: dict[str, Any]) -> None:
    """Write the metadata that Colab writes."""
    notebook["metadata"] |= {
        "colab": {"provenance": [], "toc_visible": True, "gpuType": "T4"},
        "accelerator": "GPU",
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }
    notebook.update(nbformat_minor=0)
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] |= {"id": f"Zx{number}", "colab": {"base_uri": "https://localhost:8080/"}, "outputId": "x"}
        cell.pop("id", None)


def _vs_code(notebook: dict[str, Any]) -> None:
    """Write the metadata that VS Code writes."""
    notebook["metadata"] |= {"vscode": {"interpreter": {"hash": "31f2"}}, "orig_nbformat": 4}
    for cell in notebook["cells"]:
        cell["metadata"] |= {"vscode": {"languageId": "python"}, "notebookRunGroups": {"groupValue": "1"}}


def _sources_as_lists(notebook: dict[str, Any]) -> None:
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)


def _out_of_order(notebook: dict[str, Any]) -> None:
    """Keep outputs and counts of cells that were run in another order, an error of long ago among them."""
    for number, cell in enumerate(cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        cell["execution_count"] = 97 - 3 * number
        cell["outputs"] = [
            {"output_type": "stream", "name": "stderr", "text": ["Traceback\n", "old\n"]},
            {"output_type": "error", "ename": "NameError", "evalue": "old", "traceback": ["old"]},
        ]


def _extra_fields(notebook: dict[str, Any]) -> None:
    notebook["metadata"] |= {"toc": {"base_numbering": 1}, "varInspector": {}, "celltoolbar": "Create Assignment"}
    for cell in notebook["cells"]:
        cell["metadata"] |= {
            "tags": ["mine"],
            "collapsed": False,
            "scrolled": True,
            "jp-MarkdownHeadingCollapsed": True,
        }


def _answer_below(notebook: dict[str, Any]) -> None:
    """Solve a task in a cell of one's own below the stub, which stays as it was."""
    _answer_in_own_cell(notebook, 1)


def _answer_above(notebook: dict[str, Any]) -> None:
    """Solve a task in a cell of one's own above its cell, which is emptied."""
    _answer_in_own_cell(notebook, 0)


def _answer_in_own_cell(notebook: dict[str, Any], below: int) -> None:
    place = next(n for n, cell in enumerate(notebook["cells"]) if cell["id"] == "centre")
    cell = notebook["cells"][place]
    own = {**cell, "id": "own", "metadata": {}, "source": SOLVED["centre"]}
    cell["source"] = "def centre(x):\n    raise NotImplementedError" if below else ""
    notebook["cells"].insert(place + below, own)


ODDITIES = {
    "plain": Oddity(says="Does nothing unusual."),
    "redefined": Oddity(
        says="Defines its functions several times; the last one counts.",
        answers={
            "centre": "def centre(x):\n    return x\n\ndel centre\n\ndef centre(x): return 0 * x\n\n" + SOLVED["centre"]
        },
    ),
    "answer_below": Oddity(says="Solves a task in a cell below it.", change=_answer_below),
    "answer_above": Oddity(says="Solves a task in a cell above it.", change=_answer_above),
    "unicode": Oddity(
        says="Has names, strings and prose in many alphabets.",
        answers={
            "centre": "def centre(x):\n    größe = Δ = x.mean(0)  # 平均\n    print('→ 😀', Δ)\n    return x - größe",
            "why": "Weil ß ≠ ss: 日本語, עברית, العربية, 😀, e\u0301, \u200b, ∑ᵢ xᵢ",
        },
        cells=[("centre", "[markdown]### Überschrift 日本 😀"), ("tally", "π = 3.14159\nprint(f'{π=}')")],
    ),
    "long_lines": Oddity(
        says="Has very long lines and a very long answer.",
        answers={"centre": SOLVED["centre"] + "  # " + "x" * 20_000, "why": "word " * 5000},
    ),
    "windows_line_ends": Oddity(
        says="Was saved with the line ends of Windows, inside cells and around them.",
        content=lambda text: (
            json.dumps(json.loads(text), indent=1).replace("\\n", "\\r\\n").replace("\n", "\r\n").encode()
        ),
    ),
    "byte_order_mark": Oddity(
        says="Begins with a byte-order mark.", content=lambda text: b"\xef\xbb\xbf" + text.encode()
    ),
    "not_escaped": Oddity(
        says="Was saved as UTF-8 without escapes.",
        answers={"why": "Weil 😀"},
        content=lambda text: json.dumps(json.loads(text), ensure_ascii=False).encode(),
    ),
    "version_4_0": Oddity(says="Is of nbformat 4.0, whose cells have no ids.", change=_version_4_0),
    "colab": Oddity(says="Was saved by Colab.", change=_colab),
    "vs_code": Oddity(says="Was saved by VS Code.", change=_vs_code),
    "sources_as_lists": Oddity(says="Has sources that are lists of lines.", change=_sources_as_lists),
    "out_of_order": Oddity(says="Was run in another order; old outputs and errors are in it.", change=_out_of_order),
    "extra_fields": Oddity(says="Has metadata of extensions and tags of its own.", change=_extra_fields),
    "own_module": Oddity(
        says="Imports a module, and a package, that it hands in beside the notebook.",
        files={
            "helpers.py": "def column_means(x):\n    return x.mean(axis=0)\n",
            "tools/__init__.py": "from tools.lower import lower\n",
            "tools/lower.py": "def lower(word):\n    return word.lower()\n",
        },
        answers={
            "centre": "from helpers import column_means\n\ndef centre(x):\n    return x - column_means(x)",
            "tally": """
                import tools
                def tally(words):
                    if not words:
                        raise ValueError("no words")
                    lower = list(map(tools.lower, words))
                    return {word: lower.count(word) for word in lower}
            """,
        },
    ),
    "given_file": Oddity(
        says="Reads a file that lies beside the notebook, and writes one.",
        cells=[
            (
                "centre",
                """
                table = np.loadtxt("table.csv", delimiter=",")
                assert table.shape == (2, 2)
                np.save("mine.npy", table)
                """,
            )
        ],
        answers={"centre": "def centre(x):\n    np.load('mine.npy')\n    return x - x.mean(axis=0)"},
    ),
    "own_file": Oddity(
        says="Reads a file that it hands in.",
        files={"numbers/one two.txt": "0\n"},
        answers={"centre": "def centre(x):\n    return x - x.mean(axis=0) + float(open('numbers/one two.txt').read())"},
    ),
}
