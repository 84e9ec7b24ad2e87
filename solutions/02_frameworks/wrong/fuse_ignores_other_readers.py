"""Fails fuse-check: fuses a value away that another operator still reads."""


def fuse_elementwise(graph):
    fused = {}
    for name, kind, inputs, size in graph:
        kinds, outside = [], []
        for i in dict.fromkeys(inputs):
            if (
                i in fused
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
            "+".join([*kinds, kind]),
            list(dict.fromkeys(outside)),
            size,
        )
    return list(fused.values())
