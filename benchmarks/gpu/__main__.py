"""Runs every lab's solution on this machine's GPU and keeps what came of it; writes docs/gpu.md from what was kept.

python -m benchmarks.gpu run [LAB ...] [--seconds N]    all labs at once, their GPU cells one at a time
python -m benchmarks.gpu cards                          the claims that need a GPU, measured; result cards
python -m benchmarks.gpu page [--check]                 docs/gpu.md, from benchmarks/gpu/kept.json
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.gpu import page, run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    asked = commands.add_parser("run")
    asked.add_argument("labs", nargs="*")
    asked.add_argument("--seconds", type=float, default=420, help="after which what still runs is ended")
    asked.add_argument("--into", default=str(run.KEPT), help="the file that keeps what came of it")
    commands.add_parser("cards")
    commands.add_parser("page").add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.command == "run":
        return run.main(given.labs, given.seconds, given.into)
    if given.command == "page":
        return page.main(check=given.check)
    from benchmarks.gpu import cards

    return cards.main()


if __name__ == "__main__":
    sys.exit(main())
