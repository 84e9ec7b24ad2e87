"""Formgrader's pages as the tests look at them: rendered as it renders them, and searched for what acts."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser

import nbformat
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config

__all__ = ["COMMANDS", "Page", "rendered_notebook"]

TAGS = {
    "a", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "i", "img", "input", "li", "ol", "p", "pre", "span", "strong", "summary", "table", "tbody", "td",
    "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {"alt", "checked", "class", "disabled", "id", "role", "start", "tabindex", "type"}
COMMANDS = re.compile(r"\\(href|url|class|cssId|style|data|mmlToken|bbox|unicode|require|texttip|mathtip|toggle)")
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|svg[+]xml);base64,[A-Za-z0-9+/=]*")


class Page(HTMLParser):
    """What of a page could act, and the text that MathJax looks through."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.live: list[str] = []
        self.text = ""
        self.skipped = 0
        self.blocks: list[bool] = []
        """The elements div that are open, and whether MathJax leaves them alone."""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS or any(not self._is_dead(tag, key, value or "") for key, value in attrs):
            self.live.append(self.get_starttag_text() or tag)
        self.skipped += tag in {"pre", "code"}
        if tag == "div":
            self.blocks.append("tex2jax_ignore" in (dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in {"pre", "code"}
        if tag == "div" and self.blocks:
            self.blocks.pop()

    def handle_data(self, data: str) -> None:
        if not self.skipped and not any(self.blocks):
            self.text += data

    def handle_comment(self, data: str) -> None:
        self.live.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.live.append(decl)

    def handle_pi(self, data: str) -> None:
        self.live.append(data)

    def unknown_decl(self, data: str) -> None:
        self.live.append(data)

    @staticmethod
    def _is_dead(tag: str, key: str, value: str) -> bool:
        if key == "href":
            return tag == "a" and value.startswith("#")
        if key == "src":
            return tag == "img" and _PICTURE.fullmatch(value) is not None
        if key == "style":
            return re.search(r"url|expression|@|behavio|position|content", value.replace("\\", "@"), re.I) is None
        if key == "class":
            return "mermaid" not in value and "isolated" not in value
        return key in ATTRIBUTES


@cache
def _exporter() -> HTMLExporter:
    """Return the exporter that formgrader renders submissions with."""
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    return HTMLExporter(config=config)


def rendered_notebook(notebook: nbformat.NotebookNode) -> str:
    """Return the page of a notebook."""
    about = dict.fromkeys(("assignment_id", "notebook_id", "submission_id", "base_url", "student"), "x")
    about |= {"last_name": "", "first_name": "", "notebook_path": "x"}
    page: str = _exporter().from_notebook_node(notebook, resources={**about, "index": 0, "total": 1})[0]
    return page
