"""Fails train-step-check: computes the loss as it should, and makes no step."""


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    with torch.autocast(
        images.device.type, dtype=dtype, enabled=dtype != torch.float32
    ):
        return nn.functional.cross_entropy(net(images), labels).item()
