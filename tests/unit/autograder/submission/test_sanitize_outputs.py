"""What is kept of the outputs that a student handed in, and that nothing in it can act in a browser."""

from __future__ import annotations

import base64
import json
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.submission.sanitize_outputs import MAX_BYTES, harmless

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><image href="https://example.org/x"/></svg>'


def shown(data: dict[str, Any], kind: str = "display_data") -> dict[str, str]:
    """Return the bundle that is kept of one output; empty if nothing is."""
    kept = harmless([{"output_type": kind, "data": data, "metadata": {"x": 1}}])
    return dict(kept[0].data) if kept else {}


def test_text_and_pictures_are_kept() -> None:
    assert shown({"text/plain": ["a", "b"], "image/png": PNG}) == {"image/png": PNG, "text/plain": "ab"}
    assert shown({"text/plain": "3"}, "execute_result") == {"text/plain": "3"}
    stream, error = harmless([
        {"output_type": "stream", "name": "stderr", "text": ["one\n", "two\n"]},
        {"output_type": "error", "ename": "ValueError", "evalue": "\x1b[31mno\x1b[0m", "traceback": ["<b>"]},
    ])  # fmt: skip
    assert (stream.name, stream.text) == ("stdout", "one\ntwo\n")
    assert error.text == "ValueError: no\n"


def test_a_picture_that_nbconvert_does_not_know_is_put_into_an_img() -> None:
    encoded = base64.b64encode(b"RIFF\0\0\0\0WEBPVP8 ").decode()
    assert shown({"image/webp": encoded}) == {"text/html": f'<img alt="figure" src="data:image/webp;base64,{encoded}">'}
    assert shown({"image/webp": f'{encoded}" onerror="alert(1)'}) == {}


def test_a_drawing_is_shown_where_nothing_of_it_runs() -> None:
    html = shown({"image/svg+xml": SVG})["text/html"]
    assert "script" not in html
    assert html.startswith('<img alt="figure" src="data:image/svg+xml;base64,')
    assert base64.b64decode(html.partition("base64,")[2].rstrip('">')).decode() == SVG


def test_a_drawing_keeps_its_title_as_alternative_text_and_nothing_more() -> None:
    title = 'Loss &amp; more" onerror="alert(1)\n&lt;script&gt;'
    html = shown({"image/svg+xml": f"<svg><title>{title}</title></svg>"})["text/html"]
    assert html.startswith(
        '<img alt="Loss &amp; more&quot; onerror=&quot;alert(1) &lt;script&gt;" src="data:image/svg+xml'
    )
    assert html.count('"') == 4


@pytest.mark.parametrize(
    "data",
    [
        {"text/html": "<script>alert(1)</script>"},
        {"application/javascript": "alert(1)"},
        {"text/markdown": "<img src=x onerror=alert(1)>"},
        {"text/latex": "\\href{javascript:alert(1)}{x}"},
        {"image/png": 'x" onerror="alert(1)'},
        {"image/png": base64.b64encode(b"<svg onload=alert(1)>").decode()},
        {"application/vnd.labkit.check+json": {"points": 9}},
        {"application/pdf": PNG},
        {},
    ],
    ids=str,
)
def test_what_may_act_or_pretend_is_left_out(data: dict[str, Any]) -> None:
    assert shown(data) == {}


def test_a_flood_is_cut_and_said_to_be() -> None:
    many = [{"output_type": "stream", "name": "stdout", "text": "x" * 30_000}] * 200
    kept = harmless(many)
    assert len(json.dumps(kept)) < 1.1 * MAX_BYTES
    assert "more outputs were handed in" in kept[-1].text
    assert all(len(output.text) <= 20_000 for output in kept)


KEYS = ["output_type", "data", "text", "name", "ename", "evalue", "text/plain", "image/png"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.sampled_from(["stream", PNG, SVG]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    )
)
def test_anything_may_be_handed_in(outputs: Any) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=harmless(outputs))])
    nbformat.validate(notebook)
