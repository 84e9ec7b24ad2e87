"""Text that some page might take for markup, some terminal for commands, some spreadsheet for a formula."""

from __future__ import annotations

from typing import Any

from tests.redteam.redlab import Attack

_LIVE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)><svg/onload=alert(1)>"
    "<iframe srcdoc='<script>alert(1)</script>'><a href='javascript:alert(1)'>x</a>"
    "<style>@import 'http://192.0.2.1/x.css'</style><meta http-equiv=refresh content=0>"
    "</pre></code></style></script></textarea></title>-->"
    "<form action=http://192.0.2.1><input autofocus onfocus=alert(1)>"
    "{{ 7 * 7 }}{% for x in y %}${7*7}<%= 7 %>\x1b[2J\x07&lt;script&gt;"
)
_CODE = f"live = {_LIVE!r}"


def _headings(notebook: dict[str, Any]) -> None:
    for number, cell in enumerate(list(notebook["cells"])):
        if cell["id"].endswith("-check"):
            heading = {
                "cell_type": "markdown",
                "id": f"h{number}",
                "metadata": {},
                "source": f"# {_LIVE}\n\n## {_LIVE}",
            }
            notebook["cells"].insert(notebook["cells"].index(cell), heading)


ATTACKS = {
    "markup_in_answer": Attack(says="Writes scripts into the written answer.", answers={"why": _LIVE}),
    "markdown_in_answer": Attack(
        says="Writes links, images and references that become live once the markdown is rendered.",
        answers={
            "why": "[x](javascript:alert(1)) ![x](http://192.0.2.1/x.png) <http://192.0.2.1>\n\n"
            '[y]: javascript:alert(1) "z"\n\n![a"onerror="alert(1)](x)\n\n$\\href{javascript:alert(1)}{x}$\n\n'
            "```html\n<script>alert(1)</script>\n```\n\n| <b onmouseover=alert(1)> |\n|-|\n" + _LIVE
        },
    ),
    "markup_in_code": Attack(
        says="Writes scripts into the code of its answers.",
        answers={"windows": f"# {_LIVE.splitlines()[0]}\ndef windows(items, n):\n    return {_LIVE!r}"},
    ),
    "markup_in_output": Attack(
        says="Displays HTML, SVG, JavaScript, LaTeX and markdown that are alive, in tests too.",
        code=_CODE
        + """
from IPython.display import HTML, SVG, Javascript, Latex, Markdown, display
def show():
    for kind in (HTML, Javascript, Latex, Markdown):
        display(kind(live))
    display({"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
             "application/javascript": "alert(1)", "text/html": live, "image/png": live}, raw=True)
    print(live)
show()
""",
        answers={"softmax": "def softmax(z):\n    show()\n    return live"},
    ),
    "pictures_that_are_none": Attack(
        says="Displays pictures whose data closes the attribute that they stand in, and metadata that does.",
        code="""
            from IPython.display import display
            data = "AAAA\\"onerror=\\"alert(1)\\" x=\\"><script>alert(1)</script>"
            display({"image/png": data, "image/jpeg": data, "image/gif": [data], "application/pdf": data},
                    raw=True, metadata={"image/png": {"width": "1 onload=alert(1)", "height": data}})
            display({"image/png\\"><script>alert(1)</script>": "AAAA", "text/plain": {"x": 1}}, raw=True)
        """,
    ),
    "markup_in_errors": Attack(
        says="Raises exceptions with markup in their text and in the name of their type.",
        code=_CODE + "\nEvil = type(live, (ValueError,), {})",
        answers={
            "windows": "def windows(items, n):\n    raise Evil(live)",
            "bisect": "def bisect(f, low, high):\n    raise ValueError(live)",
            "softmax": "raise Evil(live)",
        },
    ),
    "markup_in_values": Attack(
        says="Returns texts, keys, and objects with names that are markup, where a check says what came.",
        code=_CODE,
        answers={
            "windows": "def windows(items, n):\n    return [[live], {live: live}]",
            "bisect": "def bisect(*a):\n    return type(live, (), {})()",
            "running-mean": "class RunningMean:\n    add = print\n    def mean(self): return live\n    __len__ = mean",
        },
    ),
    "markup_in_headings": Attack(says="Puts headings that are markup above every test.", change=_headings),
    "markup_in_traceback": Attack(
        says="Has markup in the names of functions, files and lines that a traceback shows.",
        code=_CODE
        + """
import linecache
linecache.cache[live] = (1, None, [live + "\\n"], live)
def windows(items, n):
    exec(compile("raise ValueError(live)", live, "exec"), {"live": live, "__name__": "__main__"})
""",
        answers={"windows": ""},
    ),
    "terminal": Attack(
        says="Prints the commands of terminals and characters that turn text around, and ends lines with them.",
        answers={
            "windows": "def windows(items, n):\n    raise ValueError('\\x1b]0;x\\x07\\x1b[2J\\u202e\\r\\x00')",
            "why": "\x1b]0;x\x07\x1b[2J\u202e\u2066 =cmd|' /C calc'!A0",
        },
    ),
    "<img src=x onerror=alert(1)>": Attack(says="Has an id that is markup.", answers={"why": _LIVE}),
    "{{ 7 }}{% x %}'\"&;$(id)`id`": Attack(says="Has an id that templates and shells would run."),
}
