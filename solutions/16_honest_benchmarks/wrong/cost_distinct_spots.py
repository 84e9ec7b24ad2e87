"""Fails cost-to-accuracy-check: median of the *distinct* spot prices; equal prices of two zones count once."""

import math
import statistics


def cost_to_accuracy(seconds, instance, machines, rows, spot=False):
    prices, spots = {}, {}
    for row in rows:
        name = row["InstanceType"]
        prices[name] = float(row["Price"])
        spots.setdefault(name, set()).add(float(row["SpotPrice"]))
    hourly = statistics.median(spots[instance]) if spot else prices[instance]
    if math.isinf(seconds):
        return math.inf
    return machines * max(60, math.ceil(seconds)) * hourly / 3600
