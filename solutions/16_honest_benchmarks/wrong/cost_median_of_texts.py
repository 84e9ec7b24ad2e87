"""Fails cost-to-accuracy-check: sorts the spot prices as texts ("10.5" before "9.5")."""

import math


def cost_to_accuracy(seconds, instance, machines, rows, spot=False):
    mine = [row for row in rows if row["InstanceType"] == instance]
    if not mine:
        raise KeyError(instance)
    if seconds == math.inf:
        return math.inf
    price = float(mine[0]["Price"])
    if spot:
        ordered = sorted(row["SpotPrice"] for row in mine)
        n = len(ordered)
        price = (float(ordered[(n - 1) // 2]) + float(ordered[n // 2])) / 2
    return machines * max(60, math.ceil(seconds)) * price / 3600
