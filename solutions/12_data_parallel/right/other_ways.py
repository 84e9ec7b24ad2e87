"""The same functions written another way: countdowns, a number of steps agreed on first, means times lengths."""

import functools
import io


def shard(indices, rank, world_size, epoch):
    generator = np.random.default_rng(epoch)
    places = generator.permutation(len(indices))
    return np.array(
        [indices[place] for place in places[rank::world_size]], dtype=int
    )


def buckets(sizes, limit):
    if not sizes:
        return []
    *others, last = range(len(sizes))
    found, held = [(last,)], sizes[last]
    for number in others[::-1]:
        if held + sizes[number] <= limit:
            found[-1] += (number,)
            held += sizes[number]
        else:
            found.append((number,))
            held = sizes[number]
    return found


class DDP:
    def __init__(self, model, wire, limit=25 * 2**20):
        self.model, self.wire, self.sync = model, wire, True
        with torch.no_grad():
            for p in model.parameters():
                wire.broadcast(p.data)
            for buffer in model.buffers():
                wire.broadcast(buffer)
        self.learning = list(
            filter(lambda p: p.requires_grad, model.parameters())
        )
        self.plan = buckets(
            [p.numel() * p.element_size() for p in self.learning], limit
        )
        self.bucket_of = {
            number: k for k, bucket in enumerate(self.plan) for number in bucket
        }
        for number, p in enumerate(self.learning):
            p.register_post_accumulate_grad_hook(
                functools.partial(self.arrived, number)
            )
        self.begin()

    def begin(self):
        self.missing = [len(bucket) for bucket in self.plan]
        self.turn, self.rows, self.works = 0, [], []

    def arrived(self, number, p):
        if not self.sync:
            return
        self.missing[self.bucket_of[number]] -= 1
        while self.turn < len(self.plan) and self.missing[self.turn] == 0:
            self.send()

    def ready(self, p):
        raise TypeError("arrived is the hook here")

    def send(self):
        group = [self.learning[number] for number in self.plan[self.turn]]
        zeros = [torch.zeros(p.numel(), dtype=p.dtype) for p in group]
        row = torch.cat(
            [
                z if p.grad is None else p.grad.reshape(-1)
                for p, z in zip(group, zeros)
            ]
        )
        self.rows.append((group, row))
        self.works.append(self.wire.all_reduce(row))
        self.turn += 1

    def finish(self):
        while self.turn < len(self.plan):
            self.send()
        for work in reversed(self.works):
            work.wait()
        for group, row in self.rows:
            begin = 0
            for p in group:
                p.grad = row[begin : begin + p.numel()].reshape(p.shape).clone()
                begin += p.numel()
        self.begin()


def train_epoch(ddp, optimizer, x, y, pieces, accumulate=1):
    mine = [
        pieces[k : k + accumulate] for k in range(0, len(pieces), accumulate)
    ]
    parts = []
    while ddp.wire.total(len(parts) < len(mine)):
        group = (
            mine[len(parts)]
            if len(parts) < len(mine)
            else [np.array([], dtype=int)]
        )
        images = ddp.wire.total(sum(map(len, group)))
        optimizer.zero_grad(set_to_none=False)
        total = 0
        for left in range(len(group) - 1, -1, -1):
            piece = torch.as_tensor(
                np.asarray(group[-1 - left]), dtype=torch.long
            )
            ddp.sync = left == 0
            log_p = torch.log_softmax(ddp.model(x[piece]), dim=1)
            loss = -log_p[torch.arange(len(piece)), y[piece]].sum()
            (loss / images).backward()
            total += float(loss.detach())
        ddp.finish()
        optimizer.step()
        parts.append(total / images)
    return parts


def efficiency(devices, images, seconds):
    rates = [n / s / d for d, n, s in zip(devices, images, seconds)]
    return np.array([rate / rates[0] for rate in rates])


def predictions():
    return {
        "warm-up": 1,
        "linear rule": 0,
        "fixed rate": np.float32(0.5),
        "two ranks": 2,
    }


def lr_at(step, lr, batch, reference, warmup):
    k = batch / reference
    done = 1.0 if warmup == 0 else min(step / warmup, 1.0)
    return lr * (1 + (k - 1) * done)


def save_checkpoint(path, model, optimizer, epoch, step):
    whole = io.BytesIO()
    torch.save(
        [
            model.state_dict(),
            optimizer.state_dict(),
            torch.get_rng_state(),
            epoch,
            step,
        ],
        whole,
    )
    temporary = path.parent / f".{path.name}.{os.getpid()}"
    with temporary.open("wb") as file:
        file.write(whole.getvalue())
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, path)


def load_checkpoint(path, model, optimizer):
    try:
        weights, memory, random, epoch, step = torch.load(
            path, weights_only=True
        )
    except FileNotFoundError:
        return (0, 0)
    model.load_state_dict(weights)
    optimizer.load_state_dict(memory)
    torch.random.set_rng_state(random)
    return [epoch, step]
