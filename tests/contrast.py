"""How well two colours can be told apart, by WCAG 2."""


def contrast(first: str, second: str) -> float:
    """From 1, of equal colours, to 21; both are given as "#rrggbb"."""

    def luminance(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)
