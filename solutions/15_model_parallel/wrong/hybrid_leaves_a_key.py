"""Fails hybrid-cost-check: writes into the caller's dictionary."""


def hybrid_cost(
    net: dict,
    machine: dict,
    batch: int,
    dp: int,
    tp: int,
    pp: int,
    microbatches: int,
) -> tuple[float, float]:
    """Return the seconds of a step, and the bytes of the fullest device."""
    M, b = microbatches, batch / (dp * microbatches)
    net["stages"] = np.array_split(np.arange(len(net["flops"])), pp)
    ticks, syncs, held = [], [], []
    for s, own in enumerate(net["stages"]):
        tick = net["flops"][own].sum() * b / (tp * machine["speed"])
        for shared in net["shared"][own]:
            tick += 2 * allreduce_seconds(tp, shared * b, machine)
        if s < pp - 1:
            sent = net["output"][own[-1]] * b
            tick += 2 * (machine["alpha"] + machine["beta"] * sent)
        weights = net["weights"][own].sum() / tp
        activations = net["activations"][own].sum() / tp * b * min(M, pp - s)
        ticks.append(tick)
        syncs.append(allreduce_seconds(dp, weights, machine))
        held.append(3 * weights + activations)
    return (M + pp - 1) * max(ticks) + max(syncs), max(held)
