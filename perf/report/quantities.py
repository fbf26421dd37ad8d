"""Numbers as people read them: three significant digits, thousands separated, a unit that fits."""

import math
import re

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
THIN_SPACE = "\N{NARROW NO-BREAK SPACE}"
NOT_MEASURED = "–"  # an en dash stands for a figure that there is not


def is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def three(value: float) -> str:
    """1234567 as 1,230,000; 603.2 as 603; 2.2769 as 2.28; 0.16961 as 0.170."""
    if not is_number(value):
        return NOT_MEASURED
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(value, 2 - exponent)
    exponent = math.floor(math.log10(abs(rounded)))  # 999.6 has become 1000
    if -4 <= exponent <= 11:
        return f"{rounded:,.{max(0, 2 - exponent)}f}"
    return f"{rounded / 10**exponent:.2f} · 10{'⁻' if exponent < 0 else ''}{str(abs(exponent)).translate(SUPERSCRIPTS)}"


def scaled(value: float, units: list[tuple[float, str]]) -> str:
    """In the largest of `units`, (size, name) from small to large, that leaves at least one."""
    if not is_number(value):
        return NOT_MEASURED
    size, name = units[0]
    for larger, its_name in units[1:]:
        if abs(value) >= larger * 0.9995:  # what would be written as 1,000 of the smaller
            size, name = larger, its_name
    return f"{three(value / size)}{THIN_SPACE}{name}"


TIME_UNITS = [(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")]
RATE_UNITS = [(1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")]


def seconds(value: float) -> str:
    return scaled(value, TIME_UNITS)


def rate(bytes_per_second: float) -> str:
    return scaled(bytes_per_second, RATE_UNITS)


def microseconds(value: float) -> str:
    """For columns, which have one unit."""
    return three(value * 1e6) if is_number(value) else NOT_MEASURED


def gigabytes_per_second(bytes_per_second: float) -> str:
    return three(bytes_per_second * 1e-9) if is_number(bytes_per_second) else NOT_MEASURED


def percent(part: float) -> str:
    """0.9953 as 99.5 %."""
    return f"{100 * part:.1f}{THIN_SPACE}%" if is_number(part) else NOT_MEASURED


def spread(part: float) -> str:
    """Half the interquartile range over the median, as ±0.2 %."""
    if not is_number(part):
        return NOT_MEASURED
    return f"±{100 * part:.2f}{THIN_SPACE}%" if part < 0.0995 else f"±{100 * part:.0f}{THIN_SPACE}%"


def binary_bytes(count: float) -> str:
    """62914560 as 60 MiB, 150109880320 as 140 GiB."""
    if not is_number(count):
        return NOT_MEASURED
    names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    step = 0
    while count >= 1024 and step + 1 < len(names):
        count /= 1024
        step += 1
    return f"{three(count).removesuffix('.00').removesuffix('.0')}{THIN_SPACE}{names[step]}"


def elements(count: int) -> str:
    """A power of two as one, anything else in full."""
    if not is_number(count):
        return NOT_MEASURED
    count = int(count)
    if count >= 1024 and count & (count - 1) == 0:
        return "2" + str(count.bit_length() - 1).translate(SUPERSCRIPTS)
    return f"{count:,}"


def element_range(counts) -> str:
    first, last = min(counts), max(counts)
    return elements(first) if first == last else f"{elements(first)} to {elements(last)}"


def factor(ratio: float) -> str:
    """How many times as fast: 2.28, 15.2, 1,270."""
    return three(ratio)


def span(low: str, high: str) -> str:
    """Two figures as a range with the unit once: 7.27 to 7.94 µs."""
    if low == high:
        return low
    parts = [text.rsplit(THIN_SPACE, 1) for text in (low, high)]
    if len(parts[0]) == 2 and len(parts[1]) == 2 and parts[0][1] == parts[1][1]:
        return f"{parts[0][0]} to {high}"
    return f"{low} to {high}"


def sentence_list(words: list[str]) -> str:
    words = list(words)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def identifier(text: str) -> str:
    """A name for a place on the page."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"
