"""The same written another way: loops and conditions, sorted lists, exact fractions, results of other number types."""

from fractions import Fraction
from statistics import median, pstdev


def predictions():
    return {"cards": np.float32(1), "tuned": 1, "untuned": 20}


def time_to_accuracy(run, target):
    good = [i for i, found in enumerate(run["accuracy"]) if not found < target]
    if not good:
        return float("inf")
    return sum(run["epochs"][: good[0] + 1], run["setup"])


def mlperf_mean(times):
    left = list(times)
    if len(left) <= 2:
        raise ValueError("at least three runs")
    left.remove(min(left))
    left.remove(max(left))
    return float(np.mean(left))


def tune(train, rates, seeds):
    best, highest, runs, seconds = None, -1.0, 0, 0.0
    for rate in rates:
        validation, test = [], []
        for seed in seeds:
            one, other, took = train(rate, seed)
            validation.append(one)
            test.append(other)
            runs, seconds = runs + 1, seconds + took
        if sum(validation) / len(validation) > highest:
            best, highest = (rate, test), sum(validation) / len(validation)
    rate, test = best
    return {
        "seconds": np.float64(seconds),
        "runs": runs,
        "spread": pstdev(test),
        "test": sum(test) / len(test),
        "rate": rate,
    }


def speed_up(baseline, candidate, rounds, draw):
    n = baseline.shape[0]
    ratios = sorted(
        sum(baseline[i] for i in row) / sum(candidate[i] for i in row)
        for row in draw.integers(n, size=(rounds, n))
    )
    whole = float(np.mean(baseline) / np.mean(candidate))
    low, high = (float(np.quantile(ratios, q)) for q in (0.025, 0.975))
    return low, whole, high


def cost_to_accuracy(seconds, instance, machines, rows, spot=False):
    prices = {}
    for row in rows:
        prices.setdefault(row["InstanceType"], []).append(row)
    mine = prices[instance]
    if seconds == math.inf:
        return seconds
    if spot:
        price = median(Fraction(row["SpotPrice"]) for row in mine)
    else:
        price = Fraction(mine[-1]["Price"])
    billed = -int(-seconds // 1)
    return float(price * machines * (billed if billed > 60 else 60) / 3600)


def measure(call, metrics, repeat):
    names = list(metrics)
    call()
    rows = []
    for _ in range(repeat):
        states = [metrics[name][0]() for name in names]
        result, row = call(), []
        for i in range(len(names) - 1, -1, -1):
            row.insert(0, metrics[names[i]][1](states[i], result))
        rows.append(row)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def audit_results(report):
    say, broken = report.get, []
    fast, accuracy = say("speed_up"), say("accuracy")
    excused = say("part") == "kernel" or say("exact") is True
    if fast is not None and accuracy is None and not excused:
        broken.append(1)
    if accuracy is not None and say("split") != "test":
        broken.append(2)
    if say("shown") is not None:
        fewer = say("runs") is None or say("runs") > say("shown")
        if fewer or say("spread") is None:
            broken.append(3)
    one, other = say("speed_options"), say("accuracy_options")
    if one is not None and other is not None and one != other:
        broken.append(8)
    unlike = (fast is None) is not (say("baseline_accuracy") is None)
    if accuracy is not None and unlike:
        broken.append(12)
    return broken


def audit_machines(report):
    say, broken = report.get, []
    devices = 1 if say("devices") is None else say("devices")
    fast = say("speed_up") is not None
    new, old = say("year"), say("baseline_year")
    if new is not None and old is not None and old + 2 < new:
        broken.append(4)
    if devices > 1 and say("part") == "kernel":
        broken.append(5)
    if fast and say("part") == "training" and say("io") is not True:
        broken.append(6)
    if (say("unit") or "").upper()[-4:] == "OP/S" and say("seconds") is None:
        broken.append(7)
    if devices > 1 and say("stop") == "seconds":
        broken.append(10)
    if devices > 1 and fast:
        found = list((say("batches") or {}).items())
        if say("scaling") == "strong":
            wrong = any(images != found[0][1] for _, images in found)
        elif say("scaling") == "weak":
            wrong = any(b * found[0][0] != found[0][1] * p for p, b in found)
        else:
            wrong = True
        broken += [11] if wrong else []
    return broken
