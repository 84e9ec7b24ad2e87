"""Fails fuse-check: the fused operator has the size of the first."""


def fuse_elementwise(graph):
    steps = [
        (name, kind, list(dict.fromkeys(inputs)), size)
        for name, kind, inputs, size in graph
    ]

    def pair():
        for second, (_, kind, inputs, _) in enumerate(steps):
            for first, (name, earlier, _, _) in enumerate(steps):
                alike = is_elementwise(kind) and is_elementwise(earlier)
                if (
                    alike
                    and name in inputs
                    and sum(name in step[2] for step in steps) == 1
                ):
                    return first, second
        return None

    while found := pair():
        first, second = found
        name, earlier, before, size = steps[first]
        last, kind, inputs, _ = steps[second]
        merged = before + [i for i in inputs if i != name and i not in before]
        steps[second] = (last, f"{earlier}+{kind}", merged, size)
        del steps[first]
    return steps
