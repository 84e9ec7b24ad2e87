"""Fails cost-to-accuracy-check: one machine, however many there are."""


def cost_to_accuracy(
    seconds: float, instance: str, machines: int, rows, spot: bool = False
) -> float:
    mine = [row for row in rows if row["InstanceType"] == instance]
    if not mine:
        raise KeyError(instance)
    if math.isinf(seconds):
        return math.inf
    an_hour = float(mine[0]["Price"])
    if spot:
        an_hour = float(np.median([float(row["SpotPrice"]) for row in mine]))
    return max(60, math.ceil(seconds)) * an_hour / 3600
