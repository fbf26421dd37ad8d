#!/usr/bin/env python3
"""Prints the golden table of guarantee::exact: exact.py > exact.inc

Written from docs/exact.md alone, in whole numbers that are as long as they need to be; shares no code with the library, nor with
the tests' other reference (tests/support/exact_oracle.cpp). The data are those of README.md beside this file, which also has the
columns.
"""

import functools
import itertools
import math
import struct

MASK = 2**64 - 1
SECOND = 1000  # dot's y has the seed of x and so much more


class Format:
    def __init__(self, name, exponent_bits, stored, marked_nan, wide, tiny, huge):
        self.name, self.stored, self.width = name, stored, 1 + exponent_bits + stored
        self.bias = 2 ** (exponent_bits - 1) - 1
        self.last_field = 2**exponent_bits - 1
        self.lowest = 1 - self.bias - stored  # the smallest positive number is 2^lowest
        self.sign = 2 ** (self.width - 1)
        self.infinity = self.last_field << stored
        self.nan = self.infinity | 2 ** (stored - 1)
        self.marked_nan = marked_nan
        self.sizes = {"wide": wide, "tiny": tiny, "huge": huge}


class Whole:
    """A type of integers, whose elements are multiples of the units of f64."""

    def __init__(self, width, signed):
        self.name, self.width, self.signed = f"{'i' if signed else 'u'}{width}", width, signed

    def number(self, low):
        """Of the lowest bits."""
        low &= 2**self.width - 1
        return low - 2**self.width if self.signed and low >> self.width - 1 else low


f32 = Format("f32", 8, 23, 0xFFC01234, (-40, 80), (-120, 20), (100, 20))
f64 = Format("f64", 11, 52, 0xFFF8000000001234, (-300, 600), (-700, 100), (601, 100))
f16 = Format("f16", 5, 10, 0xFE12, (-14, 30), (-14, 4), (10, 6))
bf16 = Format("bf16", 8, 7, 0xFFD2, (-40, 80), (-120, 20), (100, 20))
WHOLE = i8, u8, i16, u16, i32, u32, i64, u64 = [Whole(width, signed) for width in (8, 16, 32, 64) for signed in (True, False)]


def format_of_sums(of):
    """The format of results with `own`, and that whose smallest number is the unit of a state."""
    return f64 if of is f64 or isinstance(of, Whole) else f32


# --- one rounding

def rounded(to, numerator, denominator, exponent, root=False):
    """The bits of numerator / denominator * 2^exponent, or of its root, to nearest with ties to even. The fraction is positive."""
    if exponent >= 0:
        numerator <<= exponent
    else:
        denominator <<= -exponent
    power = 2 if root else 1

    def beyond(digits, place):  # positive where the number, or its root, is above digits * 2^place, and 0 where it is that
        other = denominator * digits**power
        return numerator - (other << power * place) if place >= 0 else (numerator << -power * place) - other

    # The place of the last digit: the first one stands at place + stored, or there is no lower place.
    place = (numerator.bit_length() - denominator.bit_length()) // power - to.stored
    while beyond(1, place + to.stored + 1) >= 0:
        place += 1
    while beyond(1, place + to.stored) < 0:
        place -= 1
    place = max(place, to.lowest)
    shift = -power * place
    digits = (numerator << max(shift, 0)) // (denominator << max(-shift, 0))
    if root:
        digits = math.isqrt(digits)
    from_middle = beyond(2 * digits + 1, place - 1)
    if from_middle > 0 or from_middle == 0 and digits % 2 == 1:
        digits += 1
    return min(to.infinity, ((place - to.lowest) << to.stored) + digits)


# --- sums of terms

class Terms:
    """A sum in units of 2^unit, and what is known of the terms that are no numbers."""

    def __init__(self, unit):
        self.unit, self.sum, self.n = unit, 0, 0
        self.nan = self.plus_infinity = self.minus_infinity = self.not_minus_zero = 0

    def add(self, term):
        negative, digits, exponent = term
        self.n += 1
        if digits is NAN:
            self.nan = 1
        elif digits is INFINITE:
            self.plus_infinity |= not negative
            self.minus_infinity |= negative
        elif digits:
            size = digits << exponent - self.unit
            self.sum += -size if negative else size
        if digits != 0 or not negative:
            self.not_minus_zero = 1

    def result(self, to, divisor=1):
        if self.nan or (self.plus_infinity and self.minus_infinity):
            return to.nan
        if self.plus_infinity or self.minus_infinity:
            return to.infinity | (to.sign if self.minus_infinity else 0)
        if self.sum == 0:
            return to.sign if self.n and not self.not_minus_zero else 0
        return rounded(to, abs(self.sum), divisor, self.unit) | (to.sign if self.sum < 0 else 0)


NAN, INFINITE = "NaN", "infinite"


def decoded(of, bits):
    """(negative, digits, exponent): the size of the element is digits * 2^exponent."""
    negative = bits & of.sign != 0
    field, digits = bits >> of.stored & of.last_field, bits & (1 << of.stored) - 1
    if field == of.last_field:
        return negative, NAN if digits else INFINITE, 0
    if field == 0:
        return negative, digits, of.lowest
    return negative, digits | 1 << of.stored, of.lowest + field - 1


def product(x, y):
    negative = x[0] != y[0]
    if NAN in (x[1], y[1]):
        return negative, NAN, 0
    if INFINITE in (x[1], y[1]):
        return negative, NAN if 0 in (x[1], y[1]) else INFINITE, 0
    return negative, x[1] * y[1], x[2] + y[2]


# --- the data

def random_bits(seed, i):
    z = seed + (i + 1) * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def with_exponent(to, r, e):
    return (to.sign if r >> 63 else 0) | e + to.bias << to.stored | r & (1 << to.stored) - 1


def bits_of(to, digits, exponent):
    """Of the whole number digits times 2^exponent, rounded."""
    return rounded(to, abs(digits), 1, exponent) | (to.sign if digits < 0 else 0) if digits else 0


def uniform(to, r):
    digits = (r >> 11) - 2**52  # in units of 2^-52; exact in f64
    if to is f64 or digits == 0:
        return bits_of(to, digits, -52)
    negative, digits, exponent = decoded(f32, bits_of(f32, digits, -52))  # small types round twice
    return bits_of(to, -digits if negative else digits, exponent)


def factor(to, r):
    excess = {"f32": ((r >> 48) - 2**15, -22), "f64": ((r >> 20) - 2**43, -50), "f16": ((r >> 60) - 8, -10),
              "bf16": ((r >> 32) % 3 - 1, -7)}
    digits, exponent = excess[to.name]
    return bits_of(to, (2**-exponent + digits) * (-1 if r & 1 else 1), exponent)


def offset(to, r):
    digits, exponent = {"f32": (4096 * 2**11 + (r >> 52), -11), "f64": (2**52 + (r >> 41), -22), "f16": (1024 + (r >> 60), 0),
                        "bf16": (128 + (r >> 61), 0)}[to.name]
    return bits_of(to, digits, exponent)


def few(to, r):
    return bits_of(to, r % 7 - 3, 0) if r % 7 != 3 else to.sign * (r >> 63)


def any_bits(to, r):
    low = r & 2 * to.sign - 1
    return low & ~(to.sign >> 1) if low & to.infinity == to.infinity else low


def subnormal(to, r):
    return to.sign * (r >> 63) | (r & (1 << to.stored) - 1 if r >> 52 & 0xF else 0)


def mixed_classes(to, r):
    k = (r >> 52 & 0x7FF) % 24
    return with_exponent(to, r, -484 + k if k < 8 else -12 + k if k < 16 else 460 + k)


SIMPLE = {
    "uniform": uniform, "factors": factor, "offset": offset, "few": few, "bits": any_bits, "subnormal": subnormal,
    "mixed_classes": mixed_classes,
    "zeros": lambda to, r: to.sign * (r >> 63),
    "minus_zero": lambda to, r: to.sign,
    "blank": lambda to, r: 0,
    "edge_small": lambda to, r: with_exponent(to, r, -482 + (r >> 52) % 4),
    "edge_big": lambda to, r: with_exponent(to, r, 478 + (r >> 52) % 4),
    "brink": lambda to, r: to.sign * (r >> 63) | 0x7FB05AF103491A32,
}
# What the others are but for the elements p and q, and these two.
PLACED = {
    "one_nan": ("uniform", lambda to: (to.marked_nan, None)),
    "two_nans": ("uniform", lambda to: (to.marked_nan, to.nan)),
    "one_infinity": ("uniform", lambda to: (to.infinity, None)),
    "both_infinities": ("uniform", lambda to: (to.infinity, to.infinity | to.sign)),
    "lone": ("blank", lambda to: (to.sign | 1, None)),
    "hole": ("factors", lambda to: (to.sign, None)),
}


def of_one_size(to, family, r):
    first, count = to.sizes[family]
    return with_exponent(to, r, first + (r >> 52 & 0x7FF) % count)


# Sums that lie in the middle between two results, or at the border of what a result can be. `digits`: those of the results.

def power(to, r, exponent):
    """2^exponent with the sign of r."""
    return bits_of(to, -1 if r >> 63 else 1, exponent)


def mirrored(to, r, i, last):
    """What is to be added and taken away again: element i is the negative of element last - i."""
    return 0 if 2 * i == last else r(min(i, last - i)) ^ (to.sign if 2 * i > last else 0)


def ties(to, digits, seed, i, n):
    if seed >= SECOND:
        return bits_of(to, 1, seed % 5) if min(i, n - 1 - i) < 2 else uniform(to, random_bits(seed, min(i, n - 1 - i)))
    first = random_bits(seed, 0)
    e = (first >> 52 & 0x7FF) % 12
    if i == 0:
        return with_exponent(to, first | 1 << to.stored - 1, e)  # no power of two, below which numbers are closer
    if i == n - 1:
        return power(to, random_bits(seed, i), e - digits)
    if i == 1:
        return power(to, first, e - digits + 1) if random_bits(seed, 1) >> 63 else 0
    return mirrored(to, lambda j: uniform(to, random_bits(seed, j)), i, n - 1) if i != n - 2 else 0


def edges(to, digits, seed, i, n):
    pieces = digits // (to.stored + 1)  # which the largest result is made of
    r, last, case = random_bits(seed, i), n - 1 + pieces, seed % 4
    if seed >= SECOND:
        return bits_of(to, 1, 0) if i <= pieces or i == n - 1 else uniform(to, random_bits(seed, min(i, last - i)))
    sign = to.sign if random_bits(seed, 0) >> 63 else 0
    if i < pieces:
        return sign | to.infinity - 1 - (i * (to.stored + 1) << to.stored) if case != 3 else 0
    if i == pieces:
        return sign | (bits_of(to, 1, to.bias - digits) if case != 3 else r & (1 << to.stored) - 1)
    if i == n - 1:
        return {0: sign ^ to.sign | 1, 2: sign | 1}.get(case, 0)
    return mirrored(to, lambda j: with_exponent(to, random_bits(seed, j), to.bias - random_bits(seed, j) % 4), i, last)


def square_ties(to, digits, seed, i, _):
    r, scale, t = random_bits(seed, i), seed % 5 - 2, 1 + 2 * (seed % 8)
    roots = 1 + digits % 2  # of the sum's first digit
    return power(to, r, digits // 2 + scale) if i < roots else power(to, r, scale) if i < roots + t else 0


def root_ties(to, digits, seed, i, _):
    r, scale, t = random_bits(seed, i), -10 - seed % 3, 1 + 2 * (seed % 8)
    middle = t * (2 - digits % 2)
    if i == 0:
        return power(to, r, digits + scale)
    if i <= middle:
        return power(to, r, (digits + 1) // 2 + scale)
    return bits_of(to, -t if r >> 63 else t, scale) if i == middle + 1 else 0


def less_if_even(seed, bits):
    """The number next to it on the side of zero, or it."""
    return bits - 1 + seed % 2


def square_edges(to, digits, seed, i, _):
    j = (i + 1 - digits % 2) // 3
    bits = power(to, random_bits(seed, i), (to.bias - digits) // 2 + j) if j <= digits // 2 else 0
    return less_if_even(seed, bits) if i == 0 else bits


def root_edges(to, digits, seed, i, _):
    r, j = random_bits(seed, i), (digits + 2) // 2 + (i - 1 + digits % 2) // 3
    if i == 0:
        return less_if_even(seed, power(to, r, to.bias - digits))
    return power(to, r, to.bias - digits + j) if j <= digits else 0


OF_PLACES = {"ties": ties, "wide_ties": ties, "edges": edges, "square_ties": square_ties, "root_ties": root_ties,
             "square_edges": square_edges, "root_edges": root_edges}


def whole(of, family, seed, n):
    """The elements of a type of integers."""
    if family == "equal":
        return whole(of, "uniform", seed, 1) * n if n else []
    numbers = {
        "uniform": of.number,
        "wide": lambda r: of.number(r) >> r % of.width,
        "factors": lambda r: of.number(r | 1),
        "extremes": lambda r: of.number((0, 1, -1, 2 ** (of.width - of.signed) - 1, of.signed << of.width - 1)[r % 5]),
        "offset": lambda r: 2 ** (of.width - 2) + r % 2 ** (of.width // 4),
        "few": lambda r: r % 7 - 3 * of.signed,
        "blank": lambda r: 0,
        "lone": lambda r: 0,
        "hole": lambda r: of.number(r | 1),
    }
    x = [numbers[family](random_bits(seed, i)) for i in range(n)]
    if n and family in ("lone", "hole"):
        x[7919 * seed % n] = of.number(1 << of.width - 1) if family == "lone" else 0
    return x


@functools.lru_cache(maxsize=64)
def data(to, family, seed, n):
    """The decoded elements."""
    if isinstance(to, Whole):
        return [(one < 0, abs(one), 0) for one in whole(to, family, seed, n)]
    if family in OF_PLACES:
        digits = (f64 if family == "wide_ties" else format_of_sums(to)).stored + 1
        return [decoded(to, OF_PLACES[family](to, digits, seed, i, n)) for i in range(n)]
    if family == "equal":
        return [decoded(to, uniform(to, random_bits(seed, 0)))] * n
    if family in to.sizes:
        return [decoded(to, of_one_size(to, family, random_bits(seed, i))) for i in range(n)]
    plain, places = PLACED.get(family, (family, None))
    bits = [SIMPLE[plain](to, random_bits(seed, i)) for i in range(n)]
    if places and n:
        p = 7919 * seed % n
        at_p, at_q = places(to)
        if at_q is not None:
            bits[(p + n // 2) % n] = at_q
        bits[p] = at_p
    return [decoded(to, one) for one in bits]


# --- results

def terms_of(of, form, family, seed, n):
    unit = format_of_sums(of).lowest
    x = data(of, family, seed, n)
    if form in ("dot", "sum_of_squares", "norm2"):
        y = data(of, family, seed + SECOND, n) if form == "dot" else x
        terms, values = Terms(2 * unit), map(product, x, y)
    else:
        terms, values = Terms(unit), ((False, *one[1:]) for one in x) if form == "norm1" else x
    for value in values:
        terms.add(value)
    return terms


def result(of, to, form, family, seed, n):
    terms = terms_of(of, form, family, seed, n)
    if form == "mean":
        return terms.result(to, n) if n else to.nan
    if form == "norm2" and terms.sum and not (terms.nan or terms.plus_infinity):
        return rounded(to, terms.sum, 1, terms.unit, root=True)
    return terms.result(to)


def variance(of, to, family, seed, n, ddof):
    elements, squares = terms_of(of, "sum", family, seed, n), terms_of(of, "sum_of_squares", family, seed, n)
    if n == 0 or n - ddof <= 0 or elements.nan or elements.plus_infinity or elements.minus_infinity:
        return to.nan
    numerator = n * squares.sum - elements.sum**2
    return rounded(to, numerator, n * (n - ddof), squares.unit) if numerator else 0


def dot_of_two(of, other, products, to, family, seed, n):
    terms = Terms(2 * products.lowest)
    for pair in zip(data(of, family, seed, n), data(other, family, seed + SECOND, n)):
        terms.add(product(*pair))
    return terms.result(to)


def complex_result(of, to, form, family, seed, n):
    """Of sum and mean both parts; of sum_of_squares and norm2 one number."""
    if form in ("sum_of_squares", "norm2"):
        return (result(of, to, form, family, seed, 2 * n),)
    x, parts = data(of, family, seed, 2 * n), []
    for part in (x[0::2], x[1::2]):
        terms = Terms(of.lowest)
        for one in part:
            terms.add(one)
        parts.append(to.nan if form == "mean" and n == 0 else terms.result(to, n if form == "mean" else 1))
    return tuple(parts)


def complex_variance(of, to, family, seed, n, ddof):
    """The mean of the squares of distances from the mean."""
    x = data(of, family, seed, 2 * n)
    squares = terms_of(of, "sum_of_squares", family, seed, 2 * n)
    if n == 0 or n <= ddof or squares.nan or squares.plus_infinity:
        return to.nan
    numerator = n * squares.sum
    for part in (x[0::2], x[1::2]):
        terms = Terms(of.lowest)
        for one in part:
            terms.add(one)
        numerator -= terms.sum ** 2
    return rounded(to, numerator, n * (n - ddof), squares.unit) if numerator else 0


def complex_dot(of, to, family, seed, n):
    """Of conj(x) y, both with 2 n elements as the parts of n numbers: the sums of a c and b d, and of a d and -b c."""
    x, y = data(of, family, seed, 2 * n), data(of, family, seed + SECOND, 2 * n)
    real, imaginary = Terms(2 * of.lowest), Terms(2 * of.lowest)
    for i in range(0, 2 * n, 2):
        (a, b), (c, d) = x[i:i + 2], y[i:i + 2]
        real.add(product(a, c))
        real.add(product(b, d))
        imaginary.add(product(a, d))
        negative, *size = product(b, c)
        imaginary.add((not negative, *size))
    return real.result(to), imaginary.result(to)


# The number of the kind and the limbs of its sum, of types with the units of f32; the limbs of f64. A kind of f64 is one behind.
KINDS = {"sum": (1, 11, 68), "mean": (1, 11, 68), "norm1": (3, 11, 68), "dot": (5, 20, 134), "sum_of_squares": (5, 20, 134),
         "norm2": (5, 20, 134), "mean_variance": (7, 11, 68)}


def state(of, form, family, seed, n):
    """The words."""
    is_double = format_of_sums(of) is f64
    kind, of_others, of_doubles = KINDS[form]
    terms = terms_of(of, "sum" if form == "mean_variance" else form, family, seed, n)
    sums = [(terms.sum, of_doubles if is_double else of_others)]
    if form == "mean_variance":
        sums.append((terms_of(of, "sum_of_squares", family, seed, n).sum, 134 if is_double else 20))
    if n == 0:
        return [0] * (8 + sum(limbs for _, limbs in sums))
    marks = [terms.nan, int(terms.plus_infinity), int(terms.minus_infinity), terms.not_minus_zero]
    words = [0x0F1D0100 + kind + is_double, 1, n, *marks, 0]
    for value, limbs in sums:
        if any(marks[:3]):
            value = 0
        words += [value >> 32 * i & 0xFFFFFFFF for i in range(limbs - 1)] + [value >> 32 * (limbs - 1)]
    p = 2**31 - 1
    words[7] = sum(pow(48271, i + 1, p) * (word % p) for i, word in enumerate(words) if i != 7) % p
    return words


def hash_of(words):
    """FNV-1a of 64 bits over the little-endian bytes."""
    value = 0xCBF29CE484222325
    for byte in struct.pack(f"<{len(words)}q", *words):
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


# --- the rows

FAMILIES = ["uniform", "wide", "bits", "subnormal", "factors", "equal", "offset", "few", "tiny", "huge", "lone", "hole", "blank"]
DOUBLES = ["edge_small", "edge_big", "mixed_classes"]
SPECIAL = ["minus_zero", "one_nan", "one_infinity", "both_infinities", "two_nans", "zeros"]
SIZES = [1, 5000, 2, 4097, 3, 777, 7, 4095, 8, 16385, 9, 1025, 31, 65, 4096, 255, 513, 2049, 16383, 100]
FEWER = [1, 777, 2, 4097, 3, 255, 7, 1025, 31, 65, 2049]
LARGE = 2**20 + 13
# Of integers, and of floats too.
WHOLE_FAMILIES = ["uniform", "wide", "factors", "equal", "offset", "few", "lone", "hole", "blank"]
FORMS = ["sum", "norm1", "dot", "sum_of_squares", "norm2", "mean"]

HEADER = """\
// Golden results of guarantee::exact (docs/exact.md). Columns and data: README.md beside this file.
// Made in this folder by
//   python3 exact.py > exact.inc
// ONEFOLD_GOLDEN(type, form, accumulate, data, seed, n, bits)
// ONEFOLD_GOLDEN_RECORD(type, form, accumulate, data, seed, n, ddof, first bits, second bits)
// ONEFOLD_GOLDEN_STATE(type, form, data, seed, n, hash of the words)
// ONEFOLD_GOLDEN_COMPLEX(type, form, accumulate, data, seed, n, real part's bits, imaginary part's bits)
// ONEFOLD_GOLDEN_THREE(type, form, accumulate, data, seed, n, ddof, real part's bits, imaginary part's bits, variance's bits)
// ONEFOLD_GOLDEN_MIXED(type, type of the second array, form, accumulate, data, seed, n, bits)"""


def turns(of):
    """Families with sizes, each with each in the end: their numbers have no common divisor."""
    families = FAMILIES + DOUBLES if of is f64 else FAMILIES
    sizes = SIZES[:-1] if of is f64 else SIZES
    return zip(itertools.cycle(families), itertools.cycle(sizes))


def digits(to, bits):
    return f"0x{bits:0{to.width // 4}x}"


def print_results(of, to, turn, special):
    accumulate = "f64" if to is f64 and of is not f64 else "own"
    for form in FORMS:
        rows = [("uniform", 0)] + [next(turn) for _ in range(5)] + [(next(special), 65)]
        if of is f64 and form == "norm2":
            rows += [("brink", 245), ("brink", 246)]
        if of is f64 and form == "sum" or of is f32 and form == "dot" and to is f64:
            rows.append(("wide", LARGE))
        for seed, (family, n) in enumerate(rows, 1):
            bits = result(of, to, form, family, seed, n)
            print(f"ONEFOLD_GOLDEN({of.name}, {form}, {accumulate}, {family}, {seed}, {n}, {digits(to, bits)})")
    rows = [("offset", 4097, 0), ("equal", 777, 1), ("uniform", 1, 0), ("uniform", 1, 1), ("offset", 3, -4), (next(special), 65, 0)]
    rows += [(*next(turn), ddof) for ddof in (0, 1, 1)]
    for seed, (family, n, ddof) in enumerate(rows, 1):
        first, second = result(of, to, "mean", family, seed, n), variance(of, to, family, seed, n, ddof)
        print(f"ONEFOLD_GOLDEN_RECORD({of.name}, mean_variance, {accumulate}, {family}, {seed}, {n}, {ddof}, "
              f"{digits(to, first)}, {digits(to, second)})")


def print_states(of, turn, special):
    for form in ["sum", "norm1", "dot", "norm2", "mean_variance"]:
        rows = [next(turn) for _ in range(3)] + [(next(special), 65)]
        for seed, (family, n) in enumerate(rows, 1):
            value = hash_of(state(of, form, family, seed, n))
            print(f"ONEFOLD_GOLDEN_STATE({of.name}, {form}, {family}, {seed}, {n}, 0x{value:016x})")


def print_complex_dots(of, to):
    names = {"f32": "c64", "f64": "c128"}
    accumulate = "own" if to is of else names[to.name]
    rows = zip(FAMILIES + SPECIAL + (DOUBLES if of is f64 else []), itertools.cycle(SIZES))
    for seed, (family, n) in enumerate([("uniform", 0), *rows], 1):
        real, imaginary = complex_dot(of, to, family, seed, n)
        print(f"ONEFOLD_GOLDEN_COMPLEX({names[of.name]}, dot, {accumulate}, {family}, {seed}, {n}, "
              f"{digits(to, real)}, {digits(to, imaginary)})")


def print_places(of):
    """Sums in the middle between two results and at the border of what these can be."""
    own, small, large = format_of_sums(of), (3, 4, 65, 4097), (5, 64, 777, 5000)
    has_edges = of is not f16
    families = {
        "sum": [("ties", small)] + [("edges", large)] * has_edges,
        "norm1": [("edges", large)] * has_edges,
        "dot": [("ties", small)] + [("edges", large)] * has_edges,
        "sum_of_squares": [("square_ties", (20, 33, 65, 4097))] + [("square_edges", (81, 82, 500, 4097))] * has_edges,
        "norm2": [("root_ties", (50, 64, 65, 4097))] + [("root_edges", (81, 82, 500, 4097))] * has_edges,
        "mean": [("ties", (2, 4, 64, 4096))] + [("edges", large)] * has_edges,
    }
    for form, rows in families.items():
        for family, sizes in rows:
            for seed, n in enumerate(itertools.chain(sizes, sizes), 1):
                bits = result(of, own, form, family, seed, n)
                print(f"ONEFOLD_GOLDEN({of.name}, {form}, own, {family}, {seed}, {n}, {digits(own, bits)})")
    if of in (f32, bf16):
        for form, sizes in (("sum", small), ("dot", small), ("mean", (2, 4, 64, 4096))):
            for seed, n in enumerate(itertools.chain(sizes, sizes), 1):
                bits = result(of, f64, form, "wide_ties", seed, n)
                print(f"ONEFOLD_GOLDEN({of.name}, {form}, f64, wide_ties, {seed}, {n}, {digits(f64, bits)})")
    for seed, (family, n) in enumerate([("ties", 64), ("ties", 4096)] + [("edges", n) for n in large] * has_edges, 1):
        first, second = result(of, own, "mean", family, seed, n), variance(of, own, family, seed, n, 1)
        print(f"ONEFOLD_GOLDEN_RECORD({of.name}, mean_variance, own, {family}, {seed}, {n}, 1, {digits(own, first)}, "
              f"{digits(own, second)})")


def print_complex(of, to):
    names = {"f32": "c64", "f64": "c128"}
    accumulate = "own" if to is of else names[to.name]
    families = FAMILIES + SPECIAL + (DOUBLES if of is f64 else [])
    turn = zip(itertools.cycle(families), itertools.cycle(FEWER))
    for form in ("sum", "mean", "sum_of_squares", "norm2"):
        rows = [("uniform", 0)] + [next(turn) for _ in range(12)]
        for seed, (family, n) in enumerate(rows, 1):
            parts = complex_result(of, to, form, family, seed, n)
            row = f"({names[of.name]}, {form}, {accumulate}, {family}, {seed}, {n}, {', '.join(digits(to, part) for part in parts)})"
            print(("ONEFOLD_GOLDEN" if len(parts) == 1 else "ONEFOLD_GOLDEN_COMPLEX") + row)
    rows = [("uniform", 0, 0), ("uniform", 1, 1), ("offset", 3, -4), ("equal", 777, 1)] + [(*next(turn), ddof) for ddof in (0, 1) * 4]
    for seed, (family, n, ddof) in enumerate(rows, 1):
        parts = (*complex_result(of, to, "mean", family, seed, n), complex_variance(of, to, family, seed, n, ddof))
        print(f"ONEFOLD_GOLDEN_THREE({names[of.name]}, mean_variance, {accumulate}, {family}, {seed}, {n}, {ddof}, "
              f"{', '.join(digits(to, part) for part in parts)})")


def print_whole(of, turn):
    for form in ("mean", "norm2"):
        for seed, (family, n) in enumerate([("uniform", 0)] + [next(turn) for _ in range(6)], 1):
            bits = result(of, f64, form, family, seed, n)
            print(f"ONEFOLD_GOLDEN({of.name}, {form}, own, {family}, {seed}, {n}, {digits(f64, bits)})")
    rows = [("uniform", 0, 0), ("uniform", 1, 1), ("offset", 3, -4), ("equal", 777, 1)] + [(*next(turn), ddof) for ddof in (0, 1, 1)]
    for seed, (family, n, ddof) in enumerate(rows, 1):
        first, second = result(of, f64, "mean", family, seed, n), variance(of, f64, family, seed, n, ddof)
        print(f"ONEFOLD_GOLDEN_RECORD({of.name}, mean_variance, own, {family}, {seed}, {n}, {ddof}, {digits(f64, first)}, "
              f"{digits(f64, second)})")
    for form in ("mean", "norm2", "mean_variance"):
        for seed, (family, n) in enumerate([next(turn) for _ in range(2)], 1):
            print(f"ONEFOLD_GOLDEN_STATE({of.name}, {form}, {family}, {seed}, {n}, 0x{hash_of(state(of, form, family, seed, n)):016x})")


def print_dots_of_two():
    # And the type that has all products' elements.
    pairs = [(f32, f64, f64), (f64, f32, f64), (f16, f32, f32), (f32, bf16, f32), (f16, bf16, f32), (f64, f16, f64), (bf16, f64, f64),
             (i8, f32, f32), (f32, u8, f32), (i16, f32, f32), (u16, f32, f32), (f16, i8, f32), (u16, bf16, f32), (i32, f64, f64),
             (f64, u32, f64), (u8, f64, f64)]
    of_floats = zip(itertools.cycle(FAMILIES + SPECIAL), itertools.cycle(FEWER))
    of_any = zip(itertools.cycle(WHOLE_FAMILIES), itertools.cycle(FEWER))
    for of, other, products in pairs:
        turn = of_any if isinstance(of, Whole) or isinstance(other, Whole) else of_floats
        for seed, (family, n) in enumerate([("uniform", 0)] + [next(turn) for _ in range(9)], 1):
            for to in (f64,) if products is f64 else (f32, f64):
                bits = dot_of_two(of, other, products, to, family, seed, n)
                print(f"ONEFOLD_GOLDEN_MIXED({of.name}, {other.name}, dot, {'own' if to is products else 'f64'}, {family}, {seed}, {n}, "
                      f"{digits(to, bits)})")


def main():
    print(HEADER)
    for of in (f32, f64, f16, bf16):
        turn, special = turns(of), itertools.cycle(SPECIAL[: -1] if of is f64 else SPECIAL)
        for to in (f64,) if of is f64 else (f32, f64):
            print_results(of, to, turn, special)
        print_states(of, turn, special)
    for of, to in ((f32, f32), (f64, f64), (f32, f64)):
        print_complex_dots(of, to)
    for of in (f32, f64, f16, bf16):
        print_places(of)
    for of, to in ((f32, f32), (f64, f64), (f32, f64)):
        print_complex(of, to)
    turn = zip(itertools.cycle(WHOLE_FAMILIES + ["extremes"]), itertools.cycle(FEWER))
    for of in WHOLE:
        print_whole(of, turn)
    print_dots_of_two()


if __name__ == "__main__":
    main()
