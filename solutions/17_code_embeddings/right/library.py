"""Another plausible reading: whole matrices, the library's functions, sets where the text leaves the way open."""


def lstm_mean(x, lengths, w_x, w_h, b):
    longest = x.shape[1]
    h = torch.zeros(x.shape[0], w_h.shape[1], dtype=x.dtype)
    c, states = torch.zeros_like(h), []
    for t in range(longest):
        gates = torch.nn.functional.linear(
            torch.cat([x[:, t], h], 1), torch.cat([w_x, w_h], 1), b
        )
        i, f, g, o = gates.reshape(len(x), 4, -1).unbind(1)
        c = torch.addcmul(torch.sigmoid(f) * c, torch.sigmoid(i), torch.tanh(g))
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    stacked = torch.stack(states, dim=1)
    length = torch.tensor([int(n) for n in lengths])
    mask = torch.arange(longest).unsqueeze(0) < length.unsqueeze(1)
    kept = stacked.masked_fill(~mask.unsqueeze(2), 0.0)
    return kept.sum(dim=1) / length.unsqueeze(1)


def analogy(vectors, a, b, c):
    q = vectors[b] - vectors[a] + vectors[c]
    size = np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)
    cosines = (vectors / size[:, None]) @ q
    others = [x for x in range(len(vectors)) if x not in (a, b, c)]
    return max(others, key=lambda x: (cosines[x], -x))


def negative_sampling(centre, others):
    v = torch.from_numpy(centre).clone().requires_grad_()
    u = torch.from_numpy(others).clone().requires_grad_()
    scores = (u @ v[:, :, None])[:, :, 0]
    soft = nn.functional.logsigmoid
    loss = -(soft(scores[:, 0]).sum() + soft(-scores[:, 1:]).sum()) / len(v)
    loss.backward()
    return float(loss.detach()), v.grad.numpy(), u.grad.numpy()


def split_by_program(owners, n_test, seed):
    first = sorted(set(owners), key=owners.index)
    order = np.random.default_rng(seed).permutation(len(first))
    train = [first[i] for i in order[n_test:]]
    rows = np.arange(len(owners), dtype=np.int64)
    mask = np.array([owner in train for owner in owners], dtype=bool)
    return rows[mask], rows[~mask]
