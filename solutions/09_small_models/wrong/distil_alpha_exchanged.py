"""Fails distillation-loss-check: exchanges alpha and 1 - alpha."""


def distillation_loss(logits, teacher, labels, temperature, alpha):
    p = torch.log_softmax(teacher.detach() / temperature, dim=1)
    q = torch.log_softmax(logits / temperature, dim=1)
    soft = (p.exp() * (p - q)).sum(dim=1).mean() * temperature**2
    hard = functional.cross_entropy(logits, labels)
    return (1 - alpha) * soft + alpha * hard
