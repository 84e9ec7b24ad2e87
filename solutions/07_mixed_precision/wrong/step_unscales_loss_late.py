"""Fails train-step-check: divides the scaled loss by the scale after update(): wrong in the steps in which the scale changes."""


def train_step(
    net, optimizer, scaler, images, labels, dtype, max_norm: float = 1.0
) -> float:
    optimizer.zero_grad()
    with torch.autocast(
        images.device.type, dtype=dtype, enabled=dtype != torch.float32
    ):
        loss = nn.functional.cross_entropy(net(images), labels)
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return scaled.item() / scaler.get_scale()
