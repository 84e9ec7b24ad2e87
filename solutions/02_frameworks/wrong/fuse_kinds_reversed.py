"""Fails fuse-check: names the second operator first."""


def fuse_elementwise(graph):
    readers = Counter(i for _, _, inputs, _ in graph for i in set(inputs))
    fused = {}
    for name, kind, inputs, size in graph:
        kinds, outside = [], []
        for i in dict.fromkeys(inputs):
            if (
                readers[i] == 1
                and is_elementwise(kind)
                and is_elementwise(fused[i][1])
            ):
                _, earlier, its_inputs, _ = fused.pop(i)
                kinds.append(earlier)
                outside += its_inputs
            else:
                outside.append(i)
        fused[name] = (
            name,
            "+".join([kind, *kinds]),
            list(dict.fromkeys(outside)),
            size,
        )
    return list(fused.values())
