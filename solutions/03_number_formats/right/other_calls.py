"""Shifts and masks, np.ldexp, PyTorch's own conversion, products in float64, results in float32."""


def decode(codes, exponent, mantissa, specials):
    wide = np.array(codes, dtype=np.int32)
    fraction = wide & ((1 << mantissa) - 1)
    power = (wide >> mantissa) & ((1 << exponent) - 1)
    hidden = (power > 0).astype(np.int32) << mantissa
    shift = np.maximum(power, 1) - ((1 << (exponent - 1)) - 1) - mantissa
    value = np.array(np.ldexp((fraction + hidden).astype(np.float64), shift))
    top = power == (1 << exponent) - 1
    if specials == "ieee":
        value[top & (fraction == 0)] = np.inf
        value[top & (fraction > 0)] = np.nan
    elif specials == "nan":
        value[top & (fraction == (1 << mantissa) - 1)] = np.nan
    return np.copysign(value, 0.5 - (wide >> (exponent + mantissa))).astype(
        np.float32
    )


def round_to_bfloat16(x):
    rounded = torch.tensor(np.ascontiguousarray(x)).bfloat16()
    return rounded.view(torch.int16).numpy().view(np.uint16)


def to_fixed(x, m, n, draw=None):
    scaled = np.ldexp(np.array(x, np.float64), n)
    if draw is None:
        whole = scaled.round()
    else:
        with np.errstate(invalid="ignore"):
            whole = np.floor(scaled) + (draw.random(scaled.shape) < scaled % 1)
    whole = np.minimum(np.maximum(whole, -(2 ** (m + n))), 2 ** (m + n) - 1)
    return whole.astype(np.int32)


def quantize(x, bits=8, axis=None):
    wide = np.array(x, np.float64)
    low = np.clip(wide.min(axis, keepdims=True), None, 0)
    high = np.clip(wide.max(axis, keepdims=True), 0, None)
    scale = (high - low) / (2**bits - 1)
    scale = scale + (scale == 0)
    half = 2 ** (bits - 1)
    zero = np.rint(-half - low / scale)
    codes = np.rint(wide / scale + zero).clip(-half, half - 1).astype(np.int8)
    return [codes, scale, zero.astype(np.int32)]


def dequantize(codes, scale, zero):
    return codes * scale - np.asarray(zero, np.float64) * scale


def int8_matmul(a, zero, w, multiplier):
    wide = w.astype(np.float64)
    sums = a.astype(np.float64) @ wide - float(zero) * wide.sum(axis=0)
    return np.rint(sums * multiplier).clip(-128, 127).astype(np.int8)


def mx_quantize(x, grid, block=32):
    blocks = np.array(x, np.float64).reshape(len(x) // block, block)
    largest = np.abs(blocks).max(axis=-1, keepdims=True)
    powers = (
        np.frexp(np.where(largest > 0, largest, 1.0))[1] - np.frexp(grid[-1])[1]
    )
    powers = powers.clip(-127, 127)
    elements = nearest(np.ldexp(blocks, -powers), grid)
    return powers[:, 0].astype(np.int8), elements.astype(np.float32)
