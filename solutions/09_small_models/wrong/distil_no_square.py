"""Fails distillation-loss-check: forgets the square of the temperature."""


def distillation_loss(logits, teacher, labels, temperature, alpha):
    p = torch.log_softmax(teacher.detach() / temperature, dim=1)
    q = torch.log_softmax(logits / temperature, dim=1)
    soft = (p.exp() * (p - q)).sum(dim=1).mean()
    hard = functional.cross_entropy(logits, labels)
    return alpha * soft + (1 - alpha) * hard
