"""What a loop asks of a device, and what a pipeline asks of its source."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import torch

from labkit import count

META = count.STAND_IN


def test_a_transfer_and_its_bytes_are_counted() -> None:
    found = count.operations(lambda x: x.to(META), torch.ones(8, 4))
    assert (found["transfers"], found["bytes moved"], found["synchronisations"]) == (1, 128, 0)


def test_nothing_crosses_where_all_is_on_the_cpu() -> None:
    found = count.operations(lambda x: (x.to("cpu") + x).sum().item(), torch.ones(8))
    assert (found["transfers"], found["synchronisations"]) == (0, 0)


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.sum().item(),
        lambda x: float(x.sum()),
        lambda x: bool(x.sum() > 0),
        lambda x: x.cpu(),
        lambda x: x.tolist(),
    ],
    ids=["item", "float", "bool", "cpu", "tolist"],
)
def test_every_way_to_read_numbers_waits_for_the_device_once(read: Any) -> None:
    assert count.operations(read, torch.ones(8, device=META))["synchronisations"] == 1


def test_a_number_that_is_read_from_the_stand_in_is_0_of_its_own_type() -> None:
    seen: list[Any] = []
    x = torch.ones(3, device=META)
    count.operations(lambda: seen.extend([x.sum().item(), (x > 0).sum().item(), bool(x.any()), x.cpu().tolist()]))
    assert seen == [0.0, 0, False, [0.0, 0.0, 0.0]]
    assert [type(value) for value in seen] == [float, int, bool, list]


def test_indices_that_lie_on_the_cpu_are_a_transfer() -> None:
    x, here = torch.ones(8, 2, device=META), torch.tensor([1, 2])
    assert count.operations(lambda: x[here])["transfers"] == 1
    there = here.to(META)
    assert count.operations(lambda: x[there])["transfers"] == 0


def test_a_tensor_made_from_a_list_on_the_device_is_a_transfer() -> None:
    found = count.operations(lambda: torch.tensor([1.0, 2.0], device=META))
    assert (found["transfers"], found["bytes moved"]) == (1, 8)
    assert count.operations(lambda: torch.tensor([1.0, 2.0]))["transfers"] == 0
    assert count.operations(lambda: torch.zeros(2, device=META))["transfers"] == 0
    assert count.operations(lambda x: torch.as_tensor(x, device=META), torch.ones(2))["transfers"] == 1


def test_views_are_no_launches() -> None:
    x = torch.ones(4, 4)
    assert count.operations(lambda y: y.T.reshape(4, 4)[0].detach(), x)["launches"] == 0
    assert count.operations(lambda y: (y @ y).relu(), x)["launches"] == 2


def test_only_new_memory_is_allocated() -> None:
    x = torch.ones(16)
    assert count.operations(lambda: x.add_(1))["bytes allocated"] == 0
    assert count.operations(lambda: x + 1)["bytes allocated"] == 64


def test_what_is_kept_for_the_way_back_is_measured_by_its_largest_tensor() -> None:
    w = torch.ones(4, 4, requires_grad=True)
    x = torch.ones(100, 4)
    assert count.operations(lambda: x @ w)["largest saved"] == 1600
    with torch.no_grad():
        assert count.operations(lambda: x @ w)["largest saved"] == 0


def test_a_tensor_that_was_forgotten_on_the_cpu_is_an_error() -> None:
    net = torch.nn.Linear(4, 2, device=META)
    with pytest.raises(RuntimeError):
        count.operations(net, torch.ones(3, 4))


def test_a_sum_that_is_kept_on_the_cpu_is_an_error_in_place_and_none_out_of_place() -> None:
    loss, total = torch.ones((), device=META), torch.zeros(())
    with pytest.raises(RuntimeError, match="same device, but found at least two devices, meta and cpu"):
        count.operations(lambda: total.add_(loss))
    count.operations(lambda: total.copy_(loss))
    count.operations(lambda: torch.zeros((), device=META).add_(total))
    count.operations(lambda: total + loss)


def _evaluate(net: torch.nn.Module, x: torch.Tensor) -> float:
    return float((net(x.to(META)).relu().argmax(1) == 1).float().mean())


def test_inference_mode_is_counted_like_no_grad() -> None:
    net, x, found = torch.nn.Conv2d(1, 2, 3, device=META), torch.ones(4, 1, 5, 5), []
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            found.append(count.operations(_evaluate, net, x))
    assert found[0] == found[1]
    assert (found[0]["transfers"], found[0]["synchronisations"]) == (1, 1)


def _ahead(source: Iterable[int], depth: int) -> Iterator[int]:
    """Read ahead with a list and a condition: another pipeline than the lab's."""
    came: list[int] = []
    change = threading.Condition()
    state: dict[str, Any] = {"over": False, "stop": False, "error": None}

    def read() -> None:
        try:
            for item in source:
                with change:
                    came.append(item)
                    change.notify_all()
                    change.wait_for(lambda: len(came) <= depth or state["stop"])
                    if state["stop"]:
                        return
        except Exception as error:
            state["error"] = error
        with change:
            state["over"] = True
            change.notify_all()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        while True:
            with change:
                change.wait_for(lambda: came or state["over"])
                if not came:
                    break
                item = came.pop(0)
                change.notify_all()
            yield item
        if state["error"]:
            raise state["error"]
    finally:
        with change:
            state["stop"] = True
            change.notify_all()
        thread.join()


def test_a_pipeline_that_reads_ahead_is_seen_to_do_so() -> None:
    found = count.read_ahead(_ahead, items=20, depth=3, take=2)
    assert found["items"] == [0, 1]
    assert 5 <= found["read"] <= 6
    assert (found["own thread"], found["alive"], found["error"]) == (True, 0, "")


def test_an_exception_of_the_source_is_reported_after_the_items_before_it() -> None:
    found = count.read_ahead(_ahead, items=3, depth=2, fails=True)
    assert (found["items"], found["error"]) == ([0, 1, 2], "OSError: the disk is gone")


def test_the_source_raises_the_exception_that_is_asked_for() -> None:
    found = count.read_ahead(_ahead, items=1, depth=2, fails="LookupError")
    assert (found["items"], found["error"], found["same error"]) == ([0], "LookupError: the disk is gone", True)


def test_another_exception_of_the_same_words_is_told_from_the_source_s() -> None:
    def another(source: Iterable[Any], depth: int) -> Iterator[Any]:
        try:
            yield from _ahead(source, depth)
        except OSError as error:
            raise OSError(str(error)) from None

    found = count.read_ahead(another, items=1, depth=2, fails=True)
    assert (found["error"], found["same error"]) == ("OSError: the disk is gone", False)


@pytest.mark.parametrize("always", [True, False])
def test_an_exception_of_the_consumer_s_reaches_the_generator(always: bool) -> None:
    def stops(source: Iterable[Any], depth: int) -> Iterator[Any]:
        ended = threading.Event()
        thread = threading.Thread(target=lambda: (list(source), ended.wait(5)), daemon=True)
        thread.start()
        try:
            yield 0
        except BaseException as error:
            if always or isinstance(error, GeneratorExit):
                ended.set()
                thread.join()
            raise

    assert count.read_ahead(stops, items=3, depth=0, take=1)["running"] == 0
    assert count.read_ahead(stops, items=3, depth=0, take=1, throws=True)["running"] == (0 if always else 1)


def test_the_source_yields_the_values_that_it_is_given() -> None:
    values = [None, "end", (), 0]
    found = count.read_ahead(_ahead, values=values, depth=2)
    assert (found["items"], found["read"]) == (values, 4)


def test_without_a_depth_the_function_has_its_own() -> None:
    def three(source: Iterable[Any], depth: int = 3) -> Iterator[Any]:
        yield from _ahead(source, depth)

    found = count.read_ahead(three, items=20, depth=3, take=2, default=True)
    assert 5 <= found["read"] <= 6
    assert (
        "missing 1 required positional argument: 'depth'"
        in (count.read_ahead(_ahead, items=20, depth=3, default=True)["error"])
    )


@pytest.mark.parametrize("waited_for", [True, False])
def test_a_thread_that_nobody_waits_for_still_runs_when_the_consumer_is_done(waited_for: bool) -> None:
    def stops(source: Iterable[int], depth: int) -> Iterator[int]:
        came, more, stop = [0], threading.Event(), threading.Event()

        def read() -> None:
            for _item in source:
                more.set()
                stop.wait()
                return

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            more.wait()
            yield from came
        finally:
            stop.set()
            if waited_for:
                reader.join()

    found = count.read_ahead(stops, items=3, depth=0, take=1)
    assert (found["running"], found["alive"]) == (0 if waited_for else 1, 0)


def test_a_plain_loop_has_no_thread_of_its_own() -> None:
    found = count.read_ahead(lambda source, depth: iter(source), items=5, depth=2, take=2)
    assert (found["read"], found["own thread"]) == (2, False)


def test_a_consumer_that_waits_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit._read_ahead._PATIENCE_S", 0.1)
    gate = threading.Event()

    def stuck(source: Iterable[int], depth: int) -> Iterator[int]:
        gate.wait()
        yield from source

    found = count.read_ahead(stuck, items=3, depth=2)
    gate.set()
    assert found["error"].startswith("TimeoutError")


def test_a_thread_that_stays_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit._read_ahead._PATIENCE_S", 0.1)
    gate = threading.Event()

    def leaves_one(source: Iterable[int], depth: int) -> Iterator[int]:
        came: list[int] = []

        def read() -> None:
            came.extend(source)
            gate.wait()

        threading.Thread(target=read, daemon=True).start()
        yield from came or source

    found = count.read_ahead(leaves_one, items=3, depth=2, take=1)
    gate.set()
    assert found["alive"] == 1


def test_an_unfinished_task_says_so() -> None:
    def blank(source: Iterable[int], depth: int) -> Iterator[int]:
        raise NotImplementedError("Task 7: prefetch")

    with pytest.raises(NotImplementedError, match="Task 7"):
        count.read_ahead(blank, items=3, depth=2)


def test_counts_and_numbers_are_of_the_same_run() -> None:
    def train(model: torch.nn.Module, images: torch.Tensor, device: str) -> dict[str, object]:
        rate, order = torch.tensor([0.5], device=device), torch.tensor([1, 0]).to(device)
        images, losses = images.to(device)[order], []
        for _ in range(3):
            model.zero_grad()
            loss = model(images).tanh().square().mean()
            loss.backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    assert parameter.grad is not None
                    parameter.sub_(rate * parameter.grad)
            losses.append(loss.item())
        return {"losses": losses, "last": loss.detach(), "column": next(model.parameters()).detach()[:, 1].cpu()}

    def network(device: str) -> torch.nn.Sequential:
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU()).to(device)

    images, here = torch.rand(2, 3), network("cpu")
    want = train(here, images, "cpu")
    found = count.computed(train, network(META), images, META, start=network("cpu"))
    assert found["returned"]["losses"] == pytest.approx(want["losses"])
    torch.testing.assert_close(found["returned"]["last"], want["last"])
    torch.testing.assert_close(found["returned"]["column"], want["column"])
    for own, right in zip(found["parameters"], here.parameters(), strict=True):
        torch.testing.assert_close(own, right.detach())
    assert found["counts"] == count.operations(train, network(META), images, META)


def test_numbers_that_are_asked_for_are_computed() -> None:
    def ask(model: torch.nn.Module, x: torch.Tensor) -> tuple[object, ...]:
        there = x.to(META)
        target = torch.zeros(3)
        target.copy_(there * 2)
        return bool(there.max() > 2), there.tolist(), torch.equal(there, there + 0), target, (there + 1).cpu()

    found = count.computed(ask, torch.nn.ReLU(), torch.tensor([1.0, 2.0, 3.0]), start=torch.nn.ReLU())["returned"]
    assert found[:3] == (True, [1.0, 2.0, 3.0], True)
    assert [each.tolist() for each in found[3:]] == [[2.0, 4.0, 6.0], [2.0, 3.0, 4.0]]


def test_a_source_without_items_says_in_which_thread_it_was_asked() -> None:
    assert not count.read_ahead(lambda source, depth: iter(source), items=0, depth=2)["own thread"]
