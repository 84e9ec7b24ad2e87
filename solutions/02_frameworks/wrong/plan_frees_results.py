"""Fails plan-check: frees a value that nobody reads."""


def plan_buffers(graph):
    readers = Counter(i for _, _, inputs, _ in graph for i in set(inputs))
    length_of = {name: size for name, _, _, size in graph}
    plan, free, count = {}, {}, 0
    for name, kind, inputs, size in graph:
        if kind == "input":
            continue
        readers.subtract(set(inputs))
        dying = [i for i in set(inputs) if i in plan and readers[i] == 0]
        released = [(length_of[i], plan[i]) for i in dying]
        for length, buffer in released if is_elementwise(kind) else []:
            free.setdefault(length, []).append(buffer)
        if free.get(size):
            plan[name] = free[size].pop()
        else:
            plan[name], count = count, count + 1
        if readers[name] == 0:
            released.append((size, plan[name]))
        for length, buffer in (
            [] if is_elementwise(kind) and readers[name] else released
        ):
            free.setdefault(length, []).append(buffer)
    return plan
