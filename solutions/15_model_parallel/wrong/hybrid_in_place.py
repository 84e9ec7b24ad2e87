"""Fails hybrid-cost-check: divides the network's weights in place."""


def hybrid_cost(net, machine, batch, dp, tp, pp, microbatches):
    net["weights"] /= tp
    b = batch / (dp * microbatches)
    ticks, syncs, bytes_held = ([], [], [])
    for s, layers in enumerate(
        np.array_split(np.arange(len(net["flops"])), pp)
    ):
        tick = net["flops"][layers].sum() * b / (tp * machine["speed"])
        for shared in net["shared"][layers]:
            tick += 2 * allreduce_seconds(tp, shared * b, machine)
        if s < pp - 1:
            sent = net["output"][layers[-1]] * b
            tick += 2 * (machine["alpha"] + machine["beta"] * sent)
        weights = net["weights"][layers].sum()
        waiting = min(microbatches, pp - s) * b
        kept = waiting * net["activations"][layers].sum() / tp
        ticks.append(tick)
        syncs.append(allreduce_seconds(dp, weights, machine))
        bytes_held.append(3 * weights + kept)
    seconds = (microbatches + pp - 1) * max(ticks) + max(syncs)
    return (float(seconds), float(max(bytes_held)))
