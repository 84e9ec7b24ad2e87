"""Fails plan-check: knows neither fused operators nor those of the way back as elementwise."""


def plan_buffers(graph):
    last = {}
    for step, (_, _, inputs, _) in enumerate(graph):
        for i in inputs:
            last[i] = step
    buffers, plan = [], {}
    for step, (name, kind, inputs, size) in enumerate(graph):
        if kind == "input":
            continue
        in_place = kind in {"add", "multiply", "scale", "tanh", "relu"}
        for number, (length, busy_until) in enumerate(buffers):
            if length == size and busy_until < step + in_place:
                plan[name] = number
                break
        else:
            plan[name] = len(buffers)
            buffers.append(None)
        buffers[plan[name]] = (size, last.get(name, len(graph)))
    return plan
