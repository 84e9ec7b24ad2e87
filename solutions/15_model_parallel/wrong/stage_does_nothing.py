"""Earns nothing of run-stage-check: returns at once."""


def run_stage(pipe, stage, order, xs, targets):
    return None
