"""Fails fuse-check: makes one pass over neighbours and stops at pairs."""


def fuse_elementwise(graph):
    readers = Counter(i for _, _, inputs, _ in graph for i in set(inputs))
    fused = {step[0]: step for step in graph}
    for name, kind, inputs, size in graph:
        for i in inputs:
            if (
                is_elementwise(kind)
                and i in fused
                and readers[i] == 1
                and "+" not in fused[i][1]
                and is_elementwise(fused[i][1])
            ):
                _, earlier, its_inputs, _ = fused.pop(i)
                rest = [j for j in inputs if j != i]
                fused[name] = (
                    name,
                    f"{earlier}+{kind}",
                    list({*its_inputs, *rest}),
                    size,
                )
    return list(fused.values())
