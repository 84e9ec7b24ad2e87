"""Fails train-step-check: forgets unscale_: clips the scaled gradients, and step unscales what is left."""


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    optimizer.zero_grad()
    with torch.autocast(
        images.device.type, dtype=dtype, enabled=dtype != torch.float32
    ):
        loss = nn.functional.cross_entropy(net(images), labels)
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
