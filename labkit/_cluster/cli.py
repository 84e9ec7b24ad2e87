"""`labkit cluster`: one script in ranks on several machines."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from labkit._cluster.nodes import Node
    from labkit._cluster.probe import Facts

__all__ = ["cluster"]

_SHOWN = ("labkit", "torch", "cores", "gpus")


def _nodes_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--python", default="python", show_default=True, help="Python of the kit in an ssh session."),
        click.option("--host", "hosts", multiple=True, metavar="HOST[:PORT]", help="A node; instead of a hosts file."),
        click.option("--hosts", "file", type=click.Path(path_type=Path), help="[default: ~/.cluster/hosts]"),
    ):
        command = option(command)
    return command


@click.group()
def cluster() -> None:
    """Run a script in ranks on several machines, which are reached by ssh.

    A hosts file names the nodes, one `host[:port] [ranks]` a line; `localhost` is this machine, # begins a comment. It
    is ~/.cluster/hosts, $LABKIT_HOSTS or given. The key is ~/.cluster/key, $LABKIT_SSH_KEY, or what ssh itself would
    take.

    \b
    Example:
      labkit cluster status
    """


@cluster.command()
@_nodes_options
@click.option("--json", "as_json", is_flag=True, help="Print the nodes as JSON.")
def status(file: Path | None, hosts: tuple[str, ...], python: str, as_json: bool) -> None:
    """Show each node: whether it can be reached, its versions, cores and GPUs. Exits with 1 if one cannot be used.

    \b
    Examples:
      labkit cluster status
      labkit cluster status --host worker1:2222 --json
    """
    from labkit._cluster.nodes import ClusterError
    from labkit._cluster.probe import Facts, examine, expect_alike

    nodes = _nodes(file, hosts)
    found = examine(nodes, python=python)
    problem = ""
    try:
        expect_alike(found)
    except ClusterError as error:
        problem = str(error)
    if as_json:
        rows = [
            {"node": node.name, "reachable": True, **{name: getattr(fact, name) for name in _SHOWN}}
            if isinstance(fact, Facts)
            else {"node": node.name, "reachable": False, "problem": str(fact)}
            for node, fact in found.items()
        ]
        click.echo(json.dumps(rows, indent=2))
    else:
        width = max(len(node.name) for node in nodes)
        for node, fact in found.items():
            text = _in_words(fact) if isinstance(fact, Facts) else "not reachable"
            click.echo(f"{node.name:<{width}}  {text}")
    if problem:
        raise click.ClickException(problem)


def _in_words(fact: Facts) -> str:
    gpus = f"{len(fact.gpus)} x {fact.gpus[0]}" if fact.gpus else "no GPU"
    return f"labkit {fact.labkit or 'none'}  torch {fact.torch or 'none'}  {fact.cores:g} cores  {gpus}"


@cluster.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@_nodes_options
@click.option("--ranks", type=click.IntRange(1), help="Ranks a node.  [default: the hosts file's, else its GPUs, or 1]")
@click.option("--with", "files", multiple=True, type=click.Path(path_type=Path), help="A further file or folder.")
@click.option("--timeout", "timeout_s", type=click.FloatRange(0, min_open=True), help="Seconds for the whole job.")
@click.option("--restarts", type=click.IntRange(0), default=0, help="Start all ranks again if one fails, so often.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Of the rendezvous on the first node.  [default: a free one]"
)
@click.option("--interface", default="", help="Network interface for the ranks.  [default: the one that ssh reaches]")
def run(
    script: Path, arguments: tuple[str, ...], file: Path | None, hosts: tuple[str, ...], ranks: int | None,
    files: tuple[Path, ...], port: int | None, **options: Any,
) -> None:  # fmt: skip
    """Run SCRIPT with its ARGUMENTS in ranks on all nodes, as torchrun does; rank 0 is on the first.

    The script, and what --with names, is copied into a new folder on each node, where the ranks run; it is removed
    afterwards. What shall stay, a rank writes elsewhere. Each line that a rank prints comes back as `node/rank | line`.
    If a rank fails, or on Ctrl-C, all ranks on all nodes end.

    \b
    Examples:
      labkit cluster run train.py --epochs 3
      labkit cluster run --with model.py --with data/ --ranks 2 --timeout 600 train.py
    """
    from labkit._cluster.job import Job, ranks_of
    from labkit._cluster.job import run as start
    from labkit._cluster.nodes import ClusterError
    from labkit._cluster.probe import examine, expect_alike

    nodes = _nodes(file, hosts)
    job = Job(script, arguments, files, ranks=ranks or 0, port=port or 0, **options)
    if not script.is_file():
        raise click.ClickException(f"{script}: no such script\nhint: give its path from here")
    started = time.monotonic()
    try:
        facts = expect_alike(examine(nodes, python=job.python, interface=job.interface), interface=job.interface)
        counts = ranks_of(job, facts)
        where = ", ".join(f"{node.name} {count}" for node, count in zip(facts, counts, strict=True))
        click.echo(f"cluster: {sum(counts)} ranks: {where}", err=True)
        start(job, facts, lambda node, rank, line: click.echo(f"{node}/{rank} | {line}"))
    except ClusterError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo("cluster: stopped", err=True)
        sys.exit(130)
    click.echo(f"cluster: all ranks are done after {time.monotonic() - started:.1f} s", err=True)


def _nodes(file: Path | None, hosts: tuple[str, ...]) -> list[Node]:
    from labkit._cluster.nodes import ClusterError, hosts_file, named, read_hosts

    if file and hosts:
        raise click.UsageError("--host and --hosts exclude each other")
    try:
        return named(("--host", text) for text in hosts) if hosts else read_hosts(file or hosts_file())
    except ClusterError as error:
        raise click.ClickException(str(error)) from error
