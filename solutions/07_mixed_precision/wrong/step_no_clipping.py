"""Fails train-step-check: forgets to clip."""


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    optimizer.zero_grad()
    with torch.autocast(
        images.device.type, dtype=dtype, enabled=dtype != torch.float32
    ):
        loss = nn.functional.cross_entropy(net(images), labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
