"""Fails fuse-check: removes the fused operators from the list that it was given."""


def fuse_elementwise(graph):
    readers = Counter(i for _, _, inputs, _ in graph for i in set(inputs))
    place = 0
    while place < len(graph):
        name, kind, inputs, size = graph[place]
        by_name = {step[0]: step for step in graph}
        kinds, outside = [], []
        for i in dict.fromkeys(inputs):
            if (
                readers[i] == 1
                and is_elementwise(kind)
                and is_elementwise(by_name[i][1])
            ):
                kinds.append(by_name[i][1])
                outside += by_name[i][2]
                graph.remove(by_name[i])
                place -= 1
            else:
                outside.append(i)
        graph[place] = (
            name,
            "+".join([*kinds, kind]),
            list(dict.fromkeys(outside)),
            size,
        )
        place += 1
    return graph
