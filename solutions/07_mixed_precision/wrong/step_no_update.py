"""Fails train-step-check: never updates the scaler, which then refuses or keeps its scale."""


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    optimizer.zero_grad()
    with torch.autocast(
        images.device.type, dtype=dtype, enabled=dtype != torch.float32
    ):
        loss = nn.functional.cross_entropy(net(images), labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    scaler.step(optimizer)
    return loss.item()
