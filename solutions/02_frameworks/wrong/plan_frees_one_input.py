"""Fails plan-check: frees one buffer after a matrix product, although it was the last to read two."""


def plan_buffers(graph):
    readers = Counter(i for _, _, inputs, _ in graph for i in set(inputs))
    sizes = {name: size for name, _, _, size in graph}
    plan, free, count = {}, {}, 0
    for name, kind, inputs, size in graph:
        if kind == "input":
            continue
        readers.subtract(set(inputs))
        ended = [
            i for i in dict.fromkeys(inputs) if i in plan and readers[i] == 0
        ]
        if is_elementwise(kind):
            for i in ended:
                free.setdefault(sizes[i], []).append(plan[i])
        if free.get(size):
            plan[name] = free[size].pop()
        else:
            plan[name], count = count, count + 1
        if ended and not is_elementwise(kind):
            free.setdefault(sizes[ended[0]], []).append(plan[ended[0]])
    return plan
