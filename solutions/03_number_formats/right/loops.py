"""Plain Python: one number at a time, fractions and bisection instead of bits."""

import bisect
import math


def predictions():
    return {"outlier": 12, "int8": np.float32(0.5), "finite": np.int64(63_488)}


def value_of(code, exponent, mantissa, specials):
    digits = format(code, f"0{1 + exponent + mantissa}b")
    e = int(digits[1 : 1 + exponent], 2)
    m = int("0" + digits[1 + exponent :], 2)
    ones = "1" * exponent
    if digits[1 : 1 + exponent] == ones:
        if specials == "ieee":
            value = math.inf if m == 0 else math.nan
            return -value if digits[0] == "1" else value
        if specials == "nan" and m == 2**mantissa - 1:
            return math.nan
    value = math.ldexp(
        m + (2**mantissa if e else 0),
        max(e, 1) - 2 ** (exponent - 1) + 1 - mantissa,
    )
    return -value if digits[0] == "1" else value


def decode(codes, exponent, mantissa, specials):
    flat = [
        value_of(int(c), exponent, mantissa, specials) for c in codes.ravel()
    ]
    return np.array(flat).reshape(codes.shape)


def bf16_of(bits):
    if bits & 0x7FFFFFFF > 0x7F800000:
        return 0xFFFF
    low, high = bits % 2**16, bits // 2**16
    return high + (low > 2**15 or (low == 2**15 and high % 2 == 1))


def round_to_bfloat16(x):
    bits = np.array(x, order="C").view(np.uint32)
    flat = [bf16_of(int(b)) for b in bits.ravel()]
    return np.array(flat, dtype=np.uint16).reshape(x.shape)


def to_fixed(x, m, n, draw=None):
    drawn = draw.random(x.size).tolist() if draw else [None] * x.size
    least, most = -(2 ** (m + n)), 2 ** (m + n) - 1
    flat = []
    for value, chance in zip(x.ravel().tolist(), drawn):
        scaled = value * 2**n
        if scaled <= least or scaled >= most:
            flat.append(least if scaled < 0 else most)
        elif chance is None:
            flat.append(round(scaled))
        else:
            flat.append(
                math.floor(scaled) + (chance < scaled - math.floor(scaled))
            )
    return np.array(flat, dtype=np.int32).reshape(x.shape)


def quantize(x, bits=8, axis=None):
    low, high = np.min(x, axis, keepdims=True), np.max(x, axis, keepdims=True)
    low, high = np.where(low < 0, low, 0.0), np.where(high > 0, high, 0.0)
    scale = (high - low) / (2**bits - 1)
    scale[scale == 0] = 1
    zero = np.round(-(2.0 ** (bits - 1)) - low / scale).astype(np.int8)
    codes = np.round(x / scale) + zero
    codes[codes < -(2 ** (bits - 1))] = -(2 ** (bits - 1))
    codes[codes > 2 ** (bits - 1) - 1] = 2 ** (bits - 1) - 1
    return codes.astype(np.int8), scale.astype(np.float32), zero


def dequantize(codes, scale, zero):
    return (codes.astype(np.float32) - zero.astype(np.float32)) * scale.astype(
        np.float32
    )


def int8_matmul(a, zero, w, multiplier):
    rows = [[int(v) - zero for v in row] for row in a]
    columns = w.T.tolist()
    factors = np.broadcast_to(multiplier, (w.shape[1],)).tolist()
    out = [
        [
            max(-128, min(127, round(f * sum(p * q for p, q in zip(row, c)))))
            for c, f in zip(columns, factors)
        ]
        for row in rows
    ]
    return np.array(out, dtype=np.int8)


def mx_quantize(x, grid, block=32):
    grid = [float(g) for g in grid]
    top = math.frexp(grid[-1])[1]
    exponents, elements = [], []
    for at in range(0, len(x), block):
        part = [float(v) for v in x[at : at + block]]
        largest = max(abs(v) for v in part)
        exponents.append(
            max(-127, min(127, math.frexp(largest)[1] - top)) if largest else 5
        )
        elements.append(
            nearest(
                [v / 2.0 ** exponents[-1] for v in part], np.array(grid)
            ).tolist()
        )
    return exponents, elements


def matmul_cost(n, k, m, number):
    moved = number[0] * n * k + number[0] * k * m + number[0] * n * m
    energy = 162.5 * moved
    energy += n * m * k * number[1] + n * m * k * number[2]
    return [float(moved), np.float64(energy)]
