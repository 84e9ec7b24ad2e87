"""Fails plan-check: takes an operator without inputs for data that was there before."""


def plan_buffers(graph):
    last = {}
    for step, (_, _, inputs, _) in enumerate(graph):
        for i in inputs:
            last[i] = step
    buffers, plan = [], {}
    for step, (name, kind, inputs, size) in enumerate(graph):
        if not inputs:
            continue
        for number, (length, busy_until) in enumerate(buffers):
            if length == size and busy_until < step + is_elementwise(kind):
                plan[name] = number
                break
        else:
            plan[name] = len(buffers)
            buffers.append(None)
        buffers[plan[name]] = (size, last.get(name, len(graph)))
    return plan
