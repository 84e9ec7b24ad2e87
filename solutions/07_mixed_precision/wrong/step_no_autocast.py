"""Fails train-step-check: everything runs in float32."""


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images), labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
