"""Fails train-step-check: converts the network instead of using autocast."""


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    optimizer.zero_grad()
    net.to(dtype)
    loss = nn.functional.cross_entropy(net(images.to(dtype)), labels)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
