"""Train the capstone's network on ranks until it meets the target, and record what that took: a team's starting point.

torchrun --standalone --nproc-per-node 2 train.py --name baseline --seed 0
labkit cluster run train.py --name baseline --seed 0

Each run is one JSON file in --runs, which rank 0 brings up to date at each look; no run writes over another's.
"""

from __future__ import annotations

# ruff: noqa: E402
import time

BEGAN = time.monotonic()  # before PyTorch is imported: a machine is paid for from its first second

import argparse
import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from labkit import load

TARGET = 0.95
"""The share of the validation images that must be read."""
EVERY = 3_600
"""After so many images the validation part is looked at."""


def settings() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", required=True, help="what is tried; runs of one name differ by their seed only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=64, help="images a step, of all ranks together")
    parser.add_argument("--rate", type=float, default=0.05, help="learning rate, after the warm-up")
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--warm-up", type=int, default=0, help="steps in which the learning rate grows")
    parser.add_argument("--threads", type=int, default=1, help="of a rank, where there is no GPU")
    parser.add_argument("--epochs", type=int, default=10, help="give up after so many")
    parser.add_argument("--data", default="glyphs", help="a data set of labkit; another needs another network")
    parser.add_argument("--machine", default="", help="the type that you pay for, such as c7i.large")
    parser.add_argument("--runs", type=Path, default=Path.home() / "capstone" / "runs")
    given = parser.parse_args()
    if not 1 <= given.batch <= EVERY or given.epochs < 1:
        parser.error(f"--batch must be from 1 to {EVERY}, --epochs at least 1")
    return given


def network() -> nn.Sequential:
    """Return the network, which the closed division does not change: 210,276 weights."""
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 36)),
    )


def images(part: Any, place: torch.device) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(part.x[:, None]).to(place), torch.from_numpy(part.y).to(place)


def batches(n: int, epoch: int, given: argparse.Namespace) -> Iterator[Tensor]:
    """Yield this rank's share of each batch. All ranks draw the same order: no image comes twice in an epoch."""
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    order = torch.randperm(n, generator=torch.Generator().manual_seed(1000 * given.seed + epoch))
    for step in range(n // given.batch):
        yield order[step * given.batch : (step + 1) * given.batch][rank::ranks]


@torch.no_grad()
def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Return the share of the images that is read. Each rank looks at its part of them."""
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    model.eval()
    right = (model(x[rank::ranks]).argmax(dim=1) == y[rank::ranks]).sum()
    model.train()
    distributed.all_reduce(right)
    return float(right) / len(y)


def train(given: argparse.Namespace, place: torch.device, record: Record) -> None:
    """Train until the target is met; look at the test images once, at the end."""
    data = load(given.data)
    (x, y), unseen = images(data.train, place), images(data.validation, place)
    torch.manual_seed(given.seed)
    model = DistributedDataParallel(network().to(place))
    optimiser = torch.optim.SGD(model.parameters(), lr=given.rate, momentum=given.momentum)
    every_batch = (mine for epoch in range(given.epochs) for mine in batches(len(y), epoch, given))
    looks = 0
    for step, mine in enumerate(every_batch, 1):
        optimiser.param_groups[0]["lr"] = given.rate * min(1, step / max(1, given.warm_up))
        optimiser.zero_grad()
        loss = functional.cross_entropy(model(x[mine]), y[mine])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        seen = step * given.batch
        if seen // EVERY > looks:
            looks, read = seen // EVERY, accuracy(model.module, *unseen)
            record.look(step, seen, read)
            guesses = read < 2 / len(data.classes) and looks > 4 and step > given.warm_up
            if read >= TARGET or guesses:
                break
    record.end(accuracy(model.module, *images(data.test, place)))


class Record:
    """What a run has done so far, in a file that rank 0 writes: a run that is broken off was paid for, too."""

    def __init__(self, given: argparse.Namespace, place: torch.device) -> None:
        about = {key: value for key, value in vars(given).items() if key != "runs"}
        if not given.machine:
            gpu = place.type == "cuda"
            about["machine"] = torch.cuda.get_device_name() if gpu else f"CPU, {os.cpu_count()} cores"
        machines, ranks = int(os.environ["GROUP_WORLD_SIZE"]), distributed.get_world_size()
        self._says: dict[str, Any] = {
            "settings": about | {"ranks": ranks, "machines": machines, "torch": torch.__version__},
            "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
            "target": TARGET,
            "curve": [],
            "test": None,
            "ended": False,
        }
        self._path = unused(given) if distributed.get_rank() == 0 else None
        self._write()

    def look(self, step: int, images: int, accuracy: float) -> None:
        seconds = time.monotonic() - BEGAN
        self._says["curve"].append({"images": images, "step": step, "seconds": seconds, "accuracy": accuracy})
        self._write()

    def end(self, test: float) -> None:
        self._says |= {"test": test, "ended": True}
        self._write()
        if self._path:
            print(f"{self._path}: {self._says['curve'][-1]}")

    def _write(self) -> None:
        if self._path:
            self._says["seconds"] = time.monotonic() - BEGAN
            new = self._path.with_suffix(".new")
            new.write_text(json.dumps(self._says, indent=1) + "\n", encoding="utf-8")
            new.replace(self._path)


def unused(given: argparse.Namespace) -> Path:
    """Return a new, empty file for a run: none is written over."""
    given.runs.mkdir(parents=True, exist_ok=True)
    tries = 1
    while True:
        path: Path = given.runs / f"{given.name}-seed{given.seed}{'' if tries == 1 else f'-{tries}'}.json"
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            tries += 1
        else:
            return path


def main() -> None:
    given, local, ranks = settings(), int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"])
    if given.batch % ranks:
        good = max(ranks, given.batch // ranks * ranks)
        raise SystemExit(f"--batch {given.batch}: {ranks} ranks cannot share it equally\nhint: --batch {good}")
    gpu = torch.cuda.is_available()
    place = torch.device("cuda", local) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(place)
    else:
        torch.set_num_threads(given.threads)
    distributed.init_process_group("nccl" if gpu else "gloo")
    try:
        train(given, place, Record(given, place))
        distributed.barrier()  # nobody leaves while another rank is still writing
    finally:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # What still refers to gloo's group may abort an orderly end: https://github.com/pytorch/pytorch/issues/190489
    os._exit(0)
