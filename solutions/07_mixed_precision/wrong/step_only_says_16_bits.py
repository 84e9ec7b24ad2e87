"""Fails train-step-check: computes in float32 and notes another dtype where one might look."""


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    optimizer.zero_grad()
    logits = net(images)
    loss = nn.functional.cross_entropy(logits, labels)
    if dtype == torch.float16:
        loss = loss * (
            1 + 0 * logits.half().float().sum()
        )  # nan where float16 would overflow
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    net.logits_dtype = dtype
    return loss.item()
