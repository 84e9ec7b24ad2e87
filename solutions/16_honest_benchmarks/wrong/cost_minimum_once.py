"""Fails cost-to-accuracy-check: the 60 seconds are a minimum of all machines together."""

import math
import statistics


def cost_to_accuracy(seconds, instance, machines, rows, spot=False):
    mine = [row for row in rows if row["InstanceType"] == instance]
    if not mine:
        raise KeyError(instance)
    if seconds == math.inf:
        return math.inf
    price = float(mine[0]["Price"])
    if spot:
        price = statistics.median(float(row["SpotPrice"]) for row in mine)
    billed = max(60, machines * math.ceil(seconds))
    return billed * price / 3600
