"""What a student meets in JupyterLab: formulas and figures render, checks read well, Validate explains itself."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
TOKEN = "orientation"
DEADLOCK = """import numpy as np
from labkit import Communicator, launch

def everyone_sends(rank, world_size):
    Communicator().send(np.ones(3), (rank + 1) % world_size)

launch(everyone_sends, 3)"""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SOLVED = (
    "    first, median, third = np.percentile(samples, [25, 50, 75])\n    return float(median), float(third - first)\n"
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of what `make lab` opens for a student who has a copy of labs/ and no exchange."""
    home = tmp_path_factory.mktemp("student")
    shutil.copytree(ROOT / "labs", home / "labs")
    path = home / "labs" / "00_orientation" / "00_orientation.ipynb"
    notebook = nbformat.read(path, as_version=4)
    half = next(cell for cell in notebook.cells if cell.id == "median-and-iqr")
    half.source = half.source.split("    raise NotImplementedError")[0] + SOLVED
    nbformat.write(notebook, path.with_name("half.ipynb"))
    stuck = nbformat.v4.new_code_cell(DEADLOCK, metadata={"tags": ["raises-exception"]})
    cells = [stuck, nbformat.v4.new_code_cell("6 * 7")]
    found = nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)
    nbformat.write(found, path.with_name("deadlock.ipynb"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("labkit")), "lab", "--no-browser", f"--port={port}"]
    command += [f"--IdentityProvider.token={TOKEN}", "--ServerApp.port_retries=0"]
    command += ["--LabApp.expose_app_in_browser=True"]
    environment = {**os.environ, "HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment.pop("JPY_PARENT_PID", None)
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api", server, home / "log")
            yield f"http://127.0.0.1:{port}/lab"
        finally:
            server.terminate()
            server.wait(30)


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        assert server.poll() is None, log.read_text(encoding="utf-8")
        try:
            urllib.request.urlopen(address, timeout=2)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.25)
        else:
            return
    raise AssertionError(log.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.set_default_timeout(60_000)
    yield page
    page.close()


def _open(page: Any, lab: str, notebook: str) -> None:
    page.goto(f"{lab}/tree/{notebook}?reset&token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function(
        "() => window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'"
    )


def _validate(page: Any) -> str:
    page.get_by_text("Validate", exact=True).first.click()
    page.wait_for_selector(".jp-Dialog")
    page.wait_for_function("() => /cell|Success/.test(document.querySelector('.jp-Dialog')?.innerText ?? '')")
    return str(page.locator(".jp-Dialog").inner_text())


def test_students_meet_no_news_and_nothing_of_nbgraders_but_validate(page: Any, lab: str) -> None:
    _open(page, lab, "00_orientation/00_orientation.ipynb")
    page.get_by_text("Validate", exact=True).first.wait_for()
    plugins = page.evaluate(
        "() => window.jupyterapp.listPlugins().filter(name => name.startsWith('@jupyter/nbgrader'))"
    )
    assert plugins == ["@jupyter/nbgrader:validate-assignment"]
    assert page.get_by_text("Create Assignment").count() == 0
    news = "() => window.jupyterapp.serviceManager.settings.fetch('@jupyterlab/apputils-extension:notification')"
    assert (
        page.evaluate(f"{news}.then(found => JSON.parse(found.schema ? JSON.stringify(found.schema) : '{{}}'))")[
            "properties"
        ]["fetchNews"]["default"]
        == "false"
    )
    assert page.locator(".Toastify__toast").count() == 0


def test_formulas_and_figures_of_a_lab_render(page: Any, lab: str) -> None:
    _open(page, lab, "01_numpy_mlp/01_numpy_mlp.ipynb")
    page.wait_for_selector("mjx-container")
    figure = page.locator("img[alt^='A chain of boxes']")
    figure.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector(\"img[alt^='A chain']\").naturalWidth > 100")


def test_run_all_on_an_unfinished_lab_goes_on_to_its_end(page: Any, lab: str) -> None:
    _open(page, lab, "00_orientation/00_orientation.ipynb")
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    unfinished = page.locator(".jp-OutputArea-output", has_text="not implemented yet: Task 1: median_and_iqr")
    unfinished.first.wait_for()
    last = page.locator(".jp-CodeCell").last.locator(".jp-InputPrompt")
    page.wait_for_function("prompt => /\\d/.test(prompt.textContent)", arg=last.element_handle())
    assert page.locator(".jp-OutputArea-output", has_text="Traceback").count() == 0
    figure = page.locator(".jp-OutputArea-output img").first
    assert "If you see ten digits, plots work" in str(figure.get_attribute("alt"))


def test_a_check_shows_its_cases_and_points(page: Any, lab: str) -> None:
    _open(page, lab, "00_orientation/half.ipynb")
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    result = page.locator(".jp-OutputArea-output table", has_text="points")
    result.first.scroll_into_view_if_needed()
    text = result.first.text_content()
    assert "the worked example" in text
    assert "of 2 points" in text


def test_validate_lists_the_failed_cases_of_an_unfinished_notebook(page: Any, lab: str) -> None:
    _open(page, lab, "00_orientation/half.ipynb")
    text = _validate(page)
    assert "FAIL  no samples raise ValueError" in text
    assert "pass  the worked example" in text
    assert "Traceback" not in text


def test_validate_says_what_a_blank_notebook_lacks(page: Any, lab: str) -> None:
    _open(page, lab, "00_orientation/00_orientation.ipynb")
    text = _validate(page)
    assert "not implemented yet: Task 1: median_and_iqr" in text


def test_a_deadlock_is_explained_and_the_notebook_goes_on(page: Any, lab: str) -> None:
    _open(page, lab, "00_orientation/deadlock.ipynb")
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    error = page.locator(".jp-OutputArea-output", has_text="RankError")
    error.first.wait_for()
    text = str(error.first.text_content())
    assert "rank 0 waits to send to rank 1" in text
    assert "a circle: 0 for 1, 1 for 2, 2 for 0" in text
    page.locator(".jp-OutputArea-executeResult", has_text="42").wait_for()
