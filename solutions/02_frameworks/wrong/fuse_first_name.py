"""Fails fuse-check: keeps the first operator's name and place, where its other inputs are not there yet."""


def fuse_elementwise(graph):
    readers = Counter(i for _, _, inputs, _ in graph for i in set(inputs))
    fused, renamed = {}, {}
    for name, kind, read, size in graph:
        inputs = [renamed.get(i, i) for i in dict.fromkeys(read)]
        for i in inputs:
            if (
                readers[i] == 1
                and is_elementwise(kind)
                and is_elementwise(fused[i][1])
            ):
                _, earlier, before, _ = fused[i]
                rest = [j for j in inputs if j != i]
                fused[i] = (
                    i,
                    f"{earlier}+{kind}",
                    list(dict.fromkeys([*before, *rest])),
                    size,
                )
                renamed[name] = i
                readers[i] = readers[name]
                break
        else:
            fused[name] = name, kind, inputs, size
    return list(fused.values())
