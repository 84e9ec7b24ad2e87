"""Fails train-step-check: adds the gradients of all steps so far."""


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    with torch.autocast(
        images.device.type, dtype=dtype, enabled=dtype != torch.float32
    ):
        loss = nn.functional.cross_entropy(net(images), labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
