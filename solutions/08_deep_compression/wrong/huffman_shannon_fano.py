"""Fails huffman-code-check: splits from the top into halves of similar frequency; small codes often come out right."""


def huffman_code(frequencies):
    code = {}

    def split(symbols, word):
        if len(symbols) == 1:
            code[symbols[0]] = word or "0"
            return
        sums = np.cumsum([frequencies[s] for s in symbols])
        cut = 1 + int(np.abs(2 * sums[:-1] - sums[-1]).argmin())
        split(symbols[:cut], word + "0")
        split(symbols[cut:], word + "1")

    if frequencies:
        split(sorted(frequencies, key=frequencies.get, reverse=True), "")
    return code
