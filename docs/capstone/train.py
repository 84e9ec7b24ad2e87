"""Train the capstone's network on ranks until it meets the target, and record what that took: a team's starting point.

torchrun --nproc-per-node 2 train.py --name baseline --seed 0
labkit cluster run train.py --name baseline --seed 0

Each run is one JSON file in --runs, written by rank 0 whether the target was met or not, and never overwritten.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import torch
from torch import Tensor, distributed, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from labkit import load

TARGET = 0.95
"""The share of the validation images that must be read."""
EVERY = 3_600
"""After so many images the validation part is looked at."""


STARTED = psutil.Process().create_time()
"""A machine is paid for from its first second, not from the first step."""


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
    parser.add_argument("--runs", type=Path, default=Path.home() / "capstone" / "runs")
    return parser.parse_args()


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
    right = (model(x[rank::ranks]).argmax(dim=1) == y[rank::ranks]).sum()
    distributed.all_reduce(right)
    return float(right) / len(y)


def train(given: argparse.Namespace, place: torch.device) -> dict[str, Any]:
    """Return what the training took: its curve, and the test accuracy of what it has made, looked at once."""
    data = load(os.environ.get("LABKIT_DATASET", "glyphs"))
    (x, y), unseen = images(data.train, place), images(data.validation, place)
    torch.manual_seed(given.seed)
    model = DistributedDataParallel(network().to(place))
    optimiser = torch.optim.SGD(model.parameters(), lr=given.rate, momentum=given.momentum)
    curve = list[dict[str, float]]()
    every_batch = (mine for epoch in range(given.epochs) for mine in batches(len(y), epoch, given))
    for step, mine in enumerate(every_batch, 1):
        optimiser.param_groups[0]["lr"] = given.rate * min(1, step / max(1, given.warm_up))
        optimiser.zero_grad()
        loss = functional.cross_entropy(model(x[mine]), y[mine])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        seen = step * given.batch
        if seen // EVERY > len(curve):
            read = accuracy(model.module, *unseen)
            curve.append({"images": seen, "step": step, "seconds": time.time() - STARTED, "accuracy": read})
            if read >= TARGET or (read < 2 / 36 and seen > 4 * EVERY):  # met, or as good as guessing
                break
    met = bool(curve) and curve[-1]["accuracy"] >= TARGET
    return {"curve": curve, "met": met, "test": accuracy(model.module, *images(data.test, place))}


def keep(run: dict[str, Any], folder: Path) -> Path:
    """Write a run's record under a name that no other has."""
    folder.mkdir(parents=True, exist_ok=True)
    tries = 1
    while True:
        again = "" if tries == 1 else f"-{tries}"
        path = folder / f"{run['settings']['name']}-seed{run['settings']['seed']}{again}.json"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(json.dumps(run, indent=1) + "\n")
        except FileExistsError:
            tries += 1
        else:
            return path


def main() -> None:
    given = settings()
    local, here = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    gpu = torch.cuda.is_available()
    if not gpu:
        torch.set_num_threads(given.threads)
    place = torch.device("cuda", local) if gpu else torch.device("cpu")
    distributed.init_process_group("nccl" if gpu else "gloo")
    try:
        ranks = distributed.get_world_size()
        if given.batch % ranks:
            raise SystemExit(f"--batch {given.batch}: {ranks} ranks cannot share it equally")
        found = train(given, place)
        if distributed.get_rank() == 0:
            machine = torch.cuda.get_device_name() if gpu else f"CPU, {os.cpu_count()} cores"
            about = {**vars(given), "runs": None, "ranks": ranks, "machines": ranks // here, "machine": machine}
            run = {"settings": about, **found, "seconds": time.time() - STARTED}
            print(f"{keep(run, given.runs)}: {found['curve'][-1]}")
        distributed.barrier()  # nobody leaves while another rank is still writing
    finally:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # What still refers to gloo's group may abort an orderly end: https://github.com/pytorch/pytorch/issues/190489
    os._exit(0)
