"""Fails fuse-check: fuses a matrix product with what comes after it."""


def fuse_elementwise(graph):
    readers = Counter(i for _, _, inputs, _ in graph for i in set(inputs))
    fused = {}
    for name, kind, inputs, size in graph:
        kinds, outside = [], []
        for i in dict.fromkeys(inputs):
            if (
                readers[i] == 1
                and is_elementwise(kind)
                and fused[i][1] != "input"
            ):
                _, earlier, its_inputs, _ = fused.pop(i)
                kinds.append(earlier)
                outside += its_inputs
            else:
                outside.append(i)
        fused[name] = (
            name,
            "+".join([*kinds, kind]),
            list(dict.fromkeys(outside)),
            size,
        )
    return list(fused.values())
