#!/usr/bin/env python3
"""Runs the built tool `onefold` as a user would, on files written here, and checks what it prints.

usage: end_to_end.py ONEFOLD [--hdf5-samples PROGRAM] [unittest arguments]

Needs nothing but Python's standard library. Runs on every backend that `onefold info --json` says is usable.
"""

import functools
import json
import math
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from fractions import Fraction

TOOL = None
HDF5_SAMPLES = None
TYPES = {"f32": ("<f4", "f"), "f64": ("<f8", "d"), "i32": ("<i4", "i"), "u32": ("<u4", "I"), "i64": ("<i8", "q"), "u64": ("<u8", "Q")}

# Types of one and two bytes; NumPy has no code for bf16, nor has struct.
SMALL = {"i8": ("|i1", "b"), "u8": ("|u1", "B"), "i16": ("<i2", "h"), "u16": ("<u2", "H"), "f16": ("<f2", "e"), "bf16": (None, None)}
ALL = {**TYPES, **SMALL}
FLOATS = ("f32", "f64", "f16", "bf16")
EXACT = ["sum", "norm1", "dot", "sum_of_squares", "norm2", "mean", "mean_variance"]  # forms that have an exact state

RECORDS = ["argmin", "argmax", "argmin_magnitude", "argmax_magnitude", "argminmax", "minmax", "mean_variance", "reduce_together"]
BITS = ["bit_and", "bit_or", "bit_xor"]  # of integers
TRUTHS = ["all", "any", "none"]
FORMS = ["sum", "prod", "min", "max", "dot", "sum_of_squares", "norm1", "norm_inf", "mean", "norm2", "min_number", "max_number",
         *BITS, "count", *TRUTHS]


def pack(type_name, values):
    if type_name == "bf16":  # of values that it holds exactly
        floats = [struct.pack("<f", value) for value in values]
        assert all(one[:2] == b"\0\0" for one in floats), values
        return b"".join(one[2:] for one in floats)
    return struct.pack(f"<{len(values)}{ALL[type_name][1]}", *values)


def size(type_name):
    return {"f16": 2, "bf16": 2}.get(type_name) or struct.calcsize(ALL[type_name][1])


def total(type_name):
    """The type that elements are added in."""
    if type_name in SMALL:
        return "f32" if type_name in FLOATS else type_name[0] + "64"
    return type_name


def magnitude(type_name):
    return type_name.replace("i", "u")


def bits(type_name, value):
    """The value's bits as the tool prints them."""
    return "0x" + pack(type_name, [value])[::-1].hex()


def npy(descr, shape, data, version=1, fortran_order=False, shift=0):
    """A .npy file as NumPy writes it; the data start `shift` bytes behind a multiple of 64."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}"
    before = 10 if version == 1 else 12
    text += " " * ((shift - before - len(text) - 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode("latin1") + data


def wrap(type_name, value):
    """A Python integer as the integer type holds it."""
    width = int(type_name[1:])
    value %= 1 << width
    return value - (1 << width) if type_name[0] == "i" and value >> (width - 1) else value


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments], capture_output=True, timeout=120, **options)


@functools.cache
def usable_backends():
    info = json.loads(run("info", "--json").stdout)
    return [backend["name"] for backend in info["backends"] if backend["usable"]]


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="onefold-tool-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def succeed(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        self.assertEqual(done.stderr, b"", arguments)
        return done.stdout.decode("utf-8")

    def succeed_json(self, *arguments):
        def refuse(text):
            raise AssertionError(f"{text} is not JSON")

        return json.loads(self.succeed(*arguments, "--json"), parse_constant=refuse)

    def fail_with(self, expected, *arguments):
        """Status 2, nothing on standard output, one line on standard error with `expected` in it."""
        done = run(*arguments)
        text = done.stderr.decode("utf-8", "replace")
        self.assertEqual(done.returncode, 2, (arguments, done.stdout, text))
        self.assertEqual(done.stdout, b"", arguments)
        self.assertRegex(text, r"\Aonefold: [^\n]+\n\Z", arguments)
        self.assertIn(expected, text)
        return text


class Reductions(ToolTest):
    """Values and bits, on every backend that can run here."""

    def each(self, operation, path, *options):
        for backend in usable_backends():
            with self.subTest(operation=operation, backend=backend, path=os.path.basename(path)):
                yield self.succeed_json(operation, path, "--backend", backend, *options)

    def check(self, path, type_name, expected, *options):
        """`expected`: the value of each operation, exact in any order of combination."""
        for operation, value in expected.items():
            for result in self.each(operation, path, *options):
                self.assertEqual(result["bits"], bits(type_name, value))
                self.assertEqual(result["type"], type_name)
                self.assertEqual(result["result_type"], type_name)
                self.assertEqual(result["form"], operation)
                self.assertEqual((result["accumulate"], result["second"]), ("own", None))
                self.assertEqual((result["variant"], result["guarantee"]), ("fixed_order", "fixed"))
                if math.isfinite(value):
                    self.assertEqual(result["value"], value)
                else:
                    self.assertEqual(result["value"], str(value))

    def test_every_type_and_operation(self):
        for type_name, (descr, _) in TYPES.items():
            values = [(7 * i) % 1001 for i in range(10007)]
            if type_name[0] != "u":
                values = [value - 500 for value in values]
            path = self.write(f"{type_name}.npy", npy(descr, f"({len(values)},)", pack(type_name, values)))
            self.check(path, type_name, {"sum": sum(values), "min": min(values), "max": max(values)})
            factors = [1] * 500 + [2] * 20 + [1] * 500
            path = self.write(f"{type_name}-factors.npy", npy(descr, f"({len(factors)},)", pack(type_name, factors)))
            self.check(path, type_name, {"prod": 2**20})

    def test_integers_wrap(self):
        for type_name in ("i32", "u32", "i64", "u64"):
            values = [wrap(type_name, 0x123456789ABCDEF1 * (i + 3)) for i in range(4099)]
            path = self.write(f"{type_name}.bin", pack(type_name, values))
            total, product = 0, 1
            for value in values:
                total, product = wrap(type_name, total + value), wrap(type_name, product * value)
            self.check(path, type_name, {"sum": total, "prod": product}, "--type", type_name)

    def test_special_values(self):
        for type_name in ("f32", "f64"):
            descr = TYPES[type_name][0]
            nan = {"f32": "0x7fc00000", "f64": "0x7ff8000000000000"}[type_name]
            path = self.write("nan.npy", npy(descr, "(3,)", pack(type_name, [1.0, -math.nan, 2.0])))
            for operation in ("sum", "prod", "min", "max"):
                for result in self.each(operation, path):
                    self.assertEqual((result["value"], result["bits"]), ("nan", nan))
            path = self.write("zeros.npy", npy(descr, "(2,)", pack(type_name, [0.0, -0.0])))
            self.check(path, type_name, {"min": -0.0, "max": 0.0})
            path = self.write("infinite.npy", npy(descr, "(3,)", pack(type_name, [1.0, -math.inf, 2.0])))
            self.check(path, type_name, {"sum": -math.inf, "min": -math.inf, "max": 2.0})

    def test_the_value_reads_back_as_the_same_number(self):
        for type_name, value in (("f32", 0.1), ("f64", 0.1), ("f32", 3.4028234663852886e38), ("f64", 5e-324), ("u64", 2**64 - 1)):
            path = self.write("x.bin", pack(type_name, [value]))
            stored = struct.unpack("<" + TYPES[type_name][1], pack(type_name, [value]))[0]
            for result in self.each("sum", path, "--type", type_name):
                self.assertEqual(result["value"], stored)
            printed = re.search(r"^value +(\S+)$", self.succeed("sum", path, "--type", type_name), re.M)[1]
            number = int(printed) if type_name == "u64" else float(printed)
            self.assertEqual(pack(type_name, [number]), pack(type_name, [value]))
        self.assertEqual(printed, "18446744073709551615")

    def test_empty_arrays_give_the_identity(self):
        identities = {"sum": 0, "prod": 1, "min": math.inf, "max": -math.inf}
        self.check(self.write("empty.npy", npy("<f8", "(3, 0)", b"")), "f64", identities)
        self.check(self.write("empty.bin", b""), "f32", identities, "--type", "f32")
        integers = {"sum": 0, "prod": 1, "min": 2**31 - 1, "max": -(2**31)}
        self.check(self.write("empty-integers.npy", npy("<i4", "(0,)", b"")), "i32", integers)

    def test_every_shape_order_version_and_alignment(self):
        data = pack("f64", [float(i) for i in range(24)])
        for shape in ("(24,)", "(2, 3, 4)", "(1, 24, 1)"):
            for version in (1, 2, 3):
                for fortran_order in (False, True):
                    for shift in (0, 1, 4):
                        path = self.write("x.npy", npy("<f8", shape, data, version, fortran_order, shift))
                        result = self.succeed_json("sum", path)
                        self.assertEqual(result["value"], 276)
                        self.assertEqual(result["fortran_order"], fortran_order)
                        self.assertEqual(str(tuple(result["shape"])), shape)
                        self.assertEqual(result["memory_mapped"], shift == 0)
        path = self.write("number.npy", npy("<f8", "()", pack("f64", [2.5])))
        result = self.succeed_json("max", path)
        self.assertEqual((result["value"], result["shape"], result["count"]), (2.5, [], 1))

    def test_dots_of_two_orders_are_refused(self):
        c_order = self.write("c.npy", npy("<f8", "(2, 3)", pack("f64", [1, 2, 3, 4, 5, 6])))
        fortran = self.write("f.npy", npy("<f8", "(2, 3)", pack("f64", [1, 4, 2, 5, 3, 6]), fortran_order=True))
        self.fail_with("lies in Fortran order, and", "dot", c_order, fortran)
        self.fail_with("lies in C order, and", "dot", fortran, c_order)
        self.assertEqual(self.succeed_json("dot", fortran, fortran)["value"], 91)
        line = self.write("line.npy", npy("<f8", "(1, 6)", pack("f64", [1, 4, 2, 5, 3, 6]), fortran_order=True))
        self.assertEqual(self.succeed_json("dot", line, fortran)["value"], 91)

    def test_a_large_sparse_file(self):
        path = self.write("large.bin", b"")
        os.truncate(path, 1 << 28)
        with open(path, "r+b") as file:
            file.seek((1 << 28) - 4)
            file.write(pack("i32", [77]))
        for result in self.each("sum", path, "--type", "i32"):
            self.assertEqual((result["value"], result["count"], result["memory_mapped"]), (77, 1 << 26, True))


class Forms(ToolTest):
    """Forms beside the operators: values, result types and bits, on every backend that can run here."""

    def results(self, *arguments):
        for backend in usable_backends():
            with self.subTest(backend=backend, arguments=arguments[:1]):
                yield self.succeed_json(*arguments, "--backend", backend)

    def check(self, result_type, value, *arguments):
        for result in self.results(*arguments):
            self.assertEqual((result["form"], result["result_type"]), (arguments[0], result_type))
            self.assertEqual(result["bits"], bits(result_type, value))
            self.assertEqual(result["guarantee"], "fixed")

    def test_every_form_of_every_type(self):
        values = {"f32": [3, -4, 12], "f64": [3, -4, 12], "i32": [3, -4, -(2**31)], "u32": [3, 4, 12], "i64": [3, -4, -(2**63)], "u64": [3, 4, 12]}
        for type_name, numbers in values.items():
            path = self.write(f"{type_name}.npy", npy(TYPES[type_name][0], "(3,)", pack(type_name, numbers)))
            signed, floating = type_name[0] == "i", type_name[0] == "f"
            size = type_name.replace("i", "u")
            real = type_name if floating else "f64"
            squares = sum(x * x for x in numbers)
            exact = float if floating else (lambda value, width=type_name: wrap(width, value))
            self.check(type_name, exact(squares), "sum_of_squares", path)
            self.check(type_name, exact(squares), "dot", path, path)
            unsigned = float if floating else (lambda value, width=size: wrap(width, value))
            self.check(size, unsigned(sum(abs(x) for x in numbers)), "norm1", path)
            self.check(size, unsigned(max(abs(x) for x in numbers)), "norm_inf", path)
            self.check(real, math.sqrt(float(squares)), "norm2", path)
            self.check(real, sum(float(x) for x in numbers) / 3, "mean", path)
            text = self.succeed("norm1", path)
            self.assertEqual(f"as {size}" in text, signed)
            self.assertEqual("as f64" in self.succeed("mean", path), not floating)

    def test_dot_of_two_files(self):
        x, y = [1.0, 2.0, 3.0], [4.0, -5.0, 6.0]
        first = self.write("x.npy", npy("<f8", "(3,)", pack("f64", x)))
        second = self.write("y.bin", pack("f64", y))
        done = run("dot", first, second)
        self.assertEqual(done.returncode, 2, "the raw file's type is not known")
        self.check("f64", 12.0, "dot", first, second, "--type", "f64")
        result = self.succeed_json("dot", first, second, "--type", "f64", "--backend", "serial", "--repeat", "2")
        self.assertEqual((result["file"], result["second"]["file"], result["second"]["format"]), (first, second, "raw"))
        self.assertEqual((result["count"], result["bytes"]), (3, 48))
        text = self.succeed("dot", first, second, "--type", "f64")
        for line in (r"reduction +dot of 2 x 3 f64 \(48 bytes\)", rf"file +{re.escape(first)}", rf"second file +{re.escape(second)}",
                     r"second input +raw, memory-mapped"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))

    def test_accumulation_in_double(self):
        numbers = [2.0**24, 1.0, 1.0, 0.5]
        path = self.write("x.npy", npy("<f4", "(4,)", pack("f32", numbers)))
        self.check("f64", sum(numbers), "sum", path, "--accumulate", "f64")
        self.check("f64", sum(x * x for x in numbers), "dot", path, path, "--accumulate", "f64")
        self.check("f64", sum(x * x for x in numbers), "sum_of_squares", path, "--accumulate", "f64")
        self.check("f64", sum(numbers), "norm1", path, "--accumulate", "f64")
        self.check("f64", sum(numbers) / 4, "mean", path, "--accumulate", "f64")
        self.check("f64", math.sqrt(sum(x * x for x in numbers)), "norm2", path, "--accumulate", "f64")
        self.check("f64", 2.0**23, "prod", path, "--accumulate", "f64")
        self.assertEqual(self.succeed_json("sum", path, "--accumulate", "f64")["accumulate"], "f64")
        self.assertEqual(self.succeed_json("sum", path, "--accumulate", "own")["accumulate"], "own")
        self.assertIn("f32 accumulated in f64, as f64", self.succeed("sum", path, "--accumulate", "f64"))

    def test_integers_of_32_bits_accumulated_in_64(self):
        signed = self.write("i32.npy", npy("<i4", "(3,)", pack("i32", [-(2**31)] * 3)))
        unsigned = self.write("u32.npy", npy("<u4", "(3,)", pack("u32", [2**32 - 1] * 3)))
        for path, type_name, value in ((signed, "i64", -(2**31)), (unsigned, "u64", 2**32 - 1)):
            wide = ("--accumulate", type_name)
            self.check(type_name, 3 * value, "sum", path, *wide)
            self.check(type_name, wrap(type_name, value**3), "prod", path, *wide)
            self.check(type_name, wrap(type_name, 3 * value**2), "dot", path, path, *wide)
            self.check(type_name, wrap(type_name, 3 * value**2), "sum_of_squares", path, *wide)
            self.check("u64", 3 * abs(value), "norm1", path, *wide)
            self.assertEqual(self.succeed_json("sum", path, *wide)["accumulate"], type_name)
            self.assertIn(f"accumulated in {type_name}, as {type_name}", self.succeed("sum", path, *wide))
        self.fail_with("sum of u32 cannot be accumulated in i64: --accumulate takes own or u64 for them", "sum", unsigned, "--accumulate", "i64")
        self.fail_with("mean of i32 cannot be accumulated in i64: leave --accumulate out", "mean", signed, "--accumulate", "i64")

    def test_small_integers_accumulated_in_their_own_type(self):
        for type_name, value in (("i8", -128), ("u8", 255), ("i16", 32767), ("u16", 65535)):
            path = self.write(f"{type_name}.bin", pack(type_name, [value] * 3))
            own = ("--type", type_name, "--accumulate", type_name)
            self.check(type_name, wrap(type_name, 3 * value), "sum", path, *own)
            self.check(type_name, wrap(type_name, value**3), "prod", path, *own)
            self.check(type_name, wrap(type_name, 3 * value**2), "dot", path, path, *own)
            unsigned = "u" + type_name[1:]
            self.check(unsigned, wrap(unsigned, 3 * abs(value)), "norm1", path, *own)
            self.assertEqual(self.succeed_json("sum", path, *own)["accumulate"], type_name)

    def test_empty_arrays(self):
        empty = self.write("empty.bin", b"")
        for form, value in (("dot", 0.0), ("sum_of_squares", 0.0), ("norm1", 0.0), ("norm_inf", 0.0), ("norm2", 0.0)):
            self.check("f32", value, *((form, empty, empty) if form == "dot" else (form, empty)), "--type", "f32")
        for type_name in ("f32", "i32"):
            for result in self.results("mean", empty, "--type", type_name):
                self.assertEqual(result["bits"], "0x7fc00000" if type_name == "f32" else "0x7ff8000000000000")
                self.assertEqual(result["value"], "nan")

    def test_norm2_does_not_overflow_on_the_way(self):
        path = self.write("x.bin", pack("f64", [3e300, -4e300]))
        for result in self.results("norm2", path, "--type", "f64"):
            self.assertAlmostEqual(result["value"] / 5e300, 1, delta=1e-15)
        path = self.write("y.bin", pack("f64", [5e-324] * 9))
        self.check("f64", 15e-324, "norm2", path, "--type", "f64")

    def test_guarantees(self):
        path = self.write("x.npy", npy("<f4", "(4,)", pack("f32", [1.0, 2.0, 3.0, 4.0])))
        self.assertEqual(self.succeed_json("sum", path, "--guarantee", "fixed")["guarantee"], "fixed")
        self.assertEqual(self.succeed_json("sum", path, "--guarantee", "none")["value"], 10)
        named = self.succeed_json("sum", path, "--variant", "parallel_reduce", "--backend", "serial")
        self.assertEqual((named["variant"], named["guarantee"]), ("parallel_reduce", "none"))
        self.fail_with("guarantee fixed cannot be given: parallel_reduce promises guarantee none", "sum", path, "--variant", "parallel_reduce", "--guarantee", "fixed", "--backend", "serial")
        self.fail_with("does not take norm2 of f32", "norm2", path, "--variant", "parallel_reduce", "--backend", "serial")

    def test_failures(self):
        path = self.write("x.bin", pack("f32", [1.0, 2.0, 3.0]))
        other = self.write("y.bin", pack("f32", [1.0, 2.0]))
        doubles = self.write("z.npy", npy("<f8", "(3,)", bytes(24)))
        floats = self.write("x.npy", npy("<f4", "(3,)", bytes(12)))
        text = self.fail_with("has 2 elements, and ", "dot", path, other, "--type", "f32")
        self.assertIn(path, text)
        self.assertIn(other, text)
        self.fail_with("elements of type f64, and ", "dot", floats, doubles)
        self.fail_with("second", "dot", path, "--type", "f32")
        self.fail_with("No such file", "dot", path, path + ".missing", "--type", "f32")
        self.assertEqual(self.succeed_json("sum", doubles, "--accumulate", "f64")["accumulate"], "own")
        self.fail_with("sum of f64 cannot be accumulated in i64: leave --accumulate out", "sum", doubles, "--accumulate", "i64")
        self.fail_with("--accumulate", "max", path, "--type", "f32", "--accumulate", "f64")
        self.fail_with("--accumulate", "norm_inf", path, "--type", "f32", "--accumulate", "f64")
        self.fail_with("f16", "sum", path, "--type", "f32", "--accumulate", "f16")
        self.fail_with("exact", "sum", path, "--type", "f32", "--guarantee", "exact")


class SmallTypes(ToolTest):
    """Elements of one and two bytes, which are computed with in larger types, on every backend that can run here."""

    def results(self, *arguments):
        for backend in usable_backends():
            with self.subTest(backend=backend, arguments=arguments):
                yield self.succeed_json(*arguments, "--backend", backend)

    def check(self, form, type_name, result_type, value, *arguments):
        for result in self.results(form, *arguments):
            self.assertEqual((result["form"], result["type"], result["result_type"]), (form, type_name, result_type))
            self.assertEqual((result["bits"], result["value"]), (bits(result_type, value), value))
            self.assertEqual((result["variant"], result["guarantee"]), ("fixed_order", "fixed"))

    def input(self, type_name, values):
        """The arguments that name a file of these values: .npy where NumPy has a code for them."""
        descr = SMALL[type_name][0]
        if descr is None:
            return [self.write(f"{type_name}.bin", pack(type_name, values)), "--type", type_name]
        return [self.write(f"{type_name}.npy", npy(descr, f"({len(values)},)", pack(type_name, values)))]

    def test_every_form_of_every_type(self):
        for type_name in SMALL:
            signed, floating = type_name[0] not in "u", type_name in FLOATS
            values = [(7 * i) % 101 for i in range(9001)]
            if signed:
                values = [value - 50 for value in values]
            x = self.input(type_name, values)
            wide, real = total(type_name), "f32" if floating else "f64"
            self.check("sum", type_name, wide, sum(values), *x)
            self.check("min", type_name, type_name, min(values), *x)
            self.check("max", type_name, type_name, max(values), *x)
            self.check("min_number", type_name, type_name, min(values), *x)
            self.check("max_number", type_name, type_name, max(values), *x)
            squares = sum(value * value for value in values)
            if not floating:  # of floats the sum is rounded
                self.check("sum_of_squares", type_name, wide, squares, *x)
                self.check("dot", type_name, wide, squares, x[0], *x)
            self.check("norm1", type_name, magnitude(wide), sum(abs(value) for value in values), *x)
            self.check("norm_inf", type_name, magnitude(type_name), max(abs(value) for value in values), *x)
            self.check("count", type_name, "u64", sum(value != 0 for value in values), *x)
            single = struct.unpack("<f", struct.pack("<f", sum(values) / len(values)))[0]
            self.check("mean", type_name, real, single if floating else sum(values) / len(values), *x)
            self.check("prod", type_name, wide, 2**20, *self.input(type_name, [1] * 500 + [2] * 20 + [1] * 500))
            self.check("norm2", type_name, real, 13, *self.input(type_name, [3, 4, 12]))
            if not floating:
                self.check("bit_and", type_name, type_name, 4, *self.input(type_name, [6, 5, 12]))
                self.check("bit_or", type_name, type_name, 15, *self.input(type_name, [6, 5, 12]))
                self.check("bit_xor", type_name, type_name, 15, *self.input(type_name, [6, 5, 12]))

    def test_sums_go_beyond_the_elements_and_beyond_32_bits(self):
        for type_name, extreme in (("i8", -128), ("u8", 255), ("i16", -32768), ("u16", 65535)):
            data = pack(type_name, [extreme]) * 300000
            path = self.write("x.bin", data)
            self.check("sum", type_name, total(type_name), 300000 * extreme, path, "--type", type_name)
            self.check("sum_of_squares", type_name, total(type_name), 300000 * extreme**2, path, "--type", type_name)
            self.check("norm1", type_name, "u64", 300000 * abs(extreme), path, "--type", type_name)

    def test_records(self):
        for type_name in SMALL:
            x = self.input(type_name, [3, 9, 2, 9, 2, 5] + [4] * 9000)
            for form, value, index in (("argmin", 2, 2), ("argmax", 9, 1), ("argmin_magnitude", 2, 2), ("argmax_magnitude", 9, 1)):
                result_type = magnitude(type_name) if form.endswith("magnitude") else type_name
                for result in self.results(form, *x):
                    self.assertEqual((result["value"], result["bits"], result["index"]), (value, bits(result_type, value), index))
                    self.assertEqual(result["result_type"], result_type)
            for result in self.results("minmax", *x):
                self.assertEqual((result["min"], result["min_bits"]), (2, bits(type_name, 2)))
                self.assertEqual((result["max"], result["max_bits"]), (9, bits(type_name, 9)))
            for result in self.results("mean_variance", *self.input(type_name, [1, 2, 3, 6])):
                self.assertEqual((result["mean"], result["variance"]), (3, 3.5))
                self.assertEqual(result["result_type"], "f32" if type_name in FLOATS else "f64")

    def test_special_values_of_halves(self):
        nan, infinite, minus_zero = {"f16": b"\x01\xfe", "bf16": b"\x81\xff"}, {"f16": "7c00", "bf16": "7f80"}, "8000"
        canonical = {"f16": "0x7e00", "bf16": "0x7fc0"}
        for type_name in ("f16", "bf16"):
            with_nan = self.write("nan.bin", pack(type_name, [1, 2]) + nan[type_name] + pack(type_name, [3]))
            for form in ("min", "max", "argmin", "norm_inf"):
                for result in self.results(form, with_nan, "--type", type_name):
                    self.assertEqual((result["value"], result["bits"]), ("nan", canonical[type_name]))
            for result in self.results("sum", with_nan, "--type", type_name):
                self.assertEqual((result["value"], result["bits"]), ("nan", "0x7fc00000"))
            self.check("max_number", type_name, type_name, 3, with_nan, "--type", type_name)
            zeros = self.write("zeros.bin", pack(type_name, [0.0, -0.0]))
            for result in self.results("min", zeros, "--type", type_name):
                self.assertEqual((result["value"], result["bits"]), (0, "0x" + minus_zero))
            empty = self.write("empty.bin", b"")
            for result in self.results("min", empty, "--type", type_name):
                self.assertEqual((result["value"], result["bits"]), ("inf", "0x" + infinite[type_name]))
        for type_name, least, most in (("i8", -128, 127), ("u16", 0, 65535)):
            self.check("min", type_name, type_name, most, empty, "--type", type_name)
            self.check("max", type_name, type_name, least, empty, "--type", type_name)

    def test_values_are_printed_as_floats_that_read_back(self):
        for type_name, stored, said in (("f16", b"\x66\x2e", "0.099975586"), ("bf16", b"\xcd\x3d", "0.100097656"), ("f16", b"\x01\x00", "5.9604645e-08")):
            path = self.write("x.bin", stored)
            text = self.succeed("max", path, "--type", type_name)
            self.assertRegex(text, re.compile(rf"^value +{re.escape(said)}$", re.M))
            self.assertRegex(text, re.compile(rf"^bits +0x{stored[::-1].hex()}$", re.M))
        text = self.succeed("max", self.write("x.bin", b"A\x80"), "--type", "i8")  # a number, and no letter
        self.assertRegex(text, re.compile(r"^value +65$", re.M))
        text = self.succeed("sum", self.write("x.bin", b"\xff"), "--type", "i8")
        self.assertRegex(text, re.compile(r"^reduction +sum of 1 i8, as i64 \(1 bytes\)$", re.M))

    def test_booleans(self):
        path = self.write("mask.npy", npy("|b1", "(6,)", b"\0\1\1\0\1\0"))
        self.check("sum", "u8", "u64", 3, path)
        self.check("count", "u8", "u64", 3, path)
        for form, value in (("all", False), ("any", True), ("none", False)):
            for result in self.results(form, path):
                self.assertEqual((result["value"], result["type"]), (value, "u8"))

    def test_bytes_that_lie_at_any_place(self):
        for shift in range(4):
            path = self.write("x.npy", npy("<i2", "(3,)", pack("i16", [1, 2, -4]), shift=shift))
            result = self.succeed_json("sum", path)
            self.assertEqual((result["value"], result["memory_mapped"]), (-1, shift % 2 == 0))
            path = self.write("y.npy", npy("|i1", "(3,)", pack("i8", [1, 2, -4]), shift=shift))
            self.assertEqual(self.succeed_json("sum", path)["memory_mapped"], True)

    def test_accumulation(self):
        numbers = [2048.0, 1.0, 1.0, 0.5]
        for type_name in ("f16", "bf16"):
            x = [self.write("x.bin", pack(type_name, numbers)), "--type", type_name]
            for result in self.results("sum", *x, "--accumulate", "f64"):
                self.assertEqual((result["result_type"], result["bits"], result["accumulate"]), ("f64", bits("f64", sum(numbers)), "f64"))
            for result in self.results("norm2", *x, "--accumulate", "f64"):
                self.assertEqual(result["bits"], bits("f64", math.sqrt(sum(number * number for number in numbers))))
            for result in self.results("sum", *x, "--accumulate", "f32"):
                self.assertEqual((result["result_type"], result["accumulate"]), ("f32", "own"))
            self.fail_with("--accumulate takes own or f64 for them", "sum", *x, "--accumulate", "i64")
        x = [self.write("x.bin", pack("i8", [1, -2, 3])), "--type", "i8"]
        for result in self.results("sum", *x, "--accumulate", "i64"):
            self.assertEqual((result["result_type"], result["value"], result["accumulate"]), ("i64", 2, "own"))
        self.fail_with("sum of i8 cannot be accumulated in f64: --accumulate takes own or i8 for them", "sum", *x, "--accumulate", "f64")
        self.fail_with("mean of i8 cannot be accumulated in i8: leave --accumulate out", "mean", *x, "--accumulate", "i8")


class ComplexNumbers(ToolTest):
    """Their results have two names each, and are reals."""

    def setUp(self):
        super().setUp()
        self.numbers = [3 + 4j, -6 + 8j, 0 - 12j, 0j]
        self.paths = {}
        for type_name, descr, part in (("c64", "<c8", "f"), ("c128", "<c16", "d")):
            data = b"".join(struct.pack(f"<2{part}", one.real, one.imag) for one in self.numbers)
            self.paths[type_name] = (self.write(f"{type_name}.npy", npy(descr, "(2, 2)", data)), {"c64": "f32", "c128": "f64"}[type_name], data)

    def check(self, result, names, values, part):
        for name, value in zip(names, values):
            self.assertEqual(result[name], value)
            self.assertEqual(result["bits" if name == "value" else f"{name}_bits"], bits(part, value))
        for name in ("value", "real", "mean", "mean_real"):
            self.assertEqual(name in result, name in names)

    def test_every_form(self):
        mean = sum(self.numbers) / 4
        variance = sum(abs(one - mean) ** 2 for one in self.numbers) / 3
        for type_name, (path, part, data) in self.paths.items():
            for form, names, values, result_type in (
                ("sum", ("real", "imaginary"), (-3, 0), type_name), ("mean", ("real", "imaginary"), (-0.75, 0), type_name),
                ("prod", ("real", "imaginary"), (0, 0), type_name), ("norm1", ("value",), (27,), part), ("norm_inf", ("value",), (12,), part),
                ("sum_of_squares", ("value",), (269,), part), ("norm2", ("value",), (struct.unpack("<f", struct.pack("<f", math.sqrt(269)))[0] if part == "f32" else math.sqrt(269),), part),
            ):
                with self.subTest(form=form, type=type_name):
                    result = self.succeed_json(form, path)
                    self.assertEqual((result["type"], result["result_type"], result["count"]), (type_name, result_type, 4))
                    self.check(result, names, values, part)
                    raw = self.succeed_json(form, self.write("x.bin", data), "--type", type_name)
                    self.check(raw, names, values, part)
            self.check(self.succeed_json("dot", path, path), ("real", "imaginary"), (269, 0), part)
            result = self.succeed_json("mean_variance", path, "--ddof", "1")
            self.check(result, ("mean_real", "mean_imaginary"), (mean.real, mean.imag), part)
            self.assertAlmostEqual(result["variance"] / variance, 1, 6)
            self.assertEqual((self.succeed_json("count", path)["value"], self.succeed_json("all", path)["value"]), (3, False))
            self.assertRegex(self.succeed("sum", path), re.compile(rf"^real +-3$\n^real_bits +{bits(part, -3.0)}$\n^imaginary +0$", re.M))

    def test_accumulated_in_double(self):
        x = self.write("x.bin", struct.pack("<6f", 2.0**24, 1, 1, 0, 1, -2))
        arguments = ("--type", "c64", "--accumulate", "c128")
        result = self.succeed_json("sum", x, *arguments)
        self.assertEqual((result["type"], result["result_type"], result["accumulate"]), ("c64", "c128", "c128"))
        self.check(result, ("real", "imaginary"), (2.0**24 + 2, -1), "f64")
        self.check(self.succeed_json("norm2", x, *arguments), ("value",), (math.sqrt(2.0**48 + 7),), "f64")
        self.check(self.succeed_json("dot", x, x, *arguments), ("real", "imaginary"), (2.0**48 + 7, 0), "f64")
        self.assertEqual(self.succeed_json("norm2", x, "--type", "c64", "--accumulate", "c64")["accumulate"], "own")
        self.assertIn("c64 accumulated in c128, as f64", self.succeed("norm1", x, *arguments))
        exact = self.succeed_json("mean", x, *arguments, "--exact")
        self.check(exact, ("real", "imaginary"), ((2.0**24 + 2) / 3, -1 / 3), "f64")
        states = [os.path.join(self.folder, name) for name in ("0", "1")]
        self.succeed("sum", self.write("y.bin", struct.pack("<2f", 2.0**24, 1)), *arguments, "--begin", "0", "--state", states[0])
        self.succeed("sum", self.write("y.bin", struct.pack("<4f", 1, 0, 1, -2)), *arguments, "--begin", "1", "--state", states[1])
        self.check(self.succeed_json("merge", *states), ("real", "imaginary"), (2.0**24 + 2, -1), "f64")
        self.fail_with("sum of c64 cannot be accumulated in f64: --accumulate takes own or c128 for them", "sum", x, "--type", "c64", "--accumulate", "f64")
        self.fail_with("sum of c128 cannot be accumulated in c64: leave --accumulate out", "sum", self.paths["c128"][0], "--accumulate", "c64")

    def test_one_that_is_cut(self):
        for type_name, (path, part, data) in self.paths.items():
            half = len(data) // 2
            states = [os.path.join(self.folder, name) for name in ("0", "1")]
            self.succeed("sum", self.write("x.bin", data[half:]), "--type", type_name, "--begin", "2", "--state", states[1])
            first = self.succeed_json("sum", self.write("x.bin", data[:half]), "--type", type_name, "--begin", "0", "--state", states[0])
            self.check(first, ("real", "imaginary"), (-3, 12), part)
            merged = self.succeed_json("merge", *states)
            self.assertEqual((merged["type"], merged["result_type"], merged["count"]), (type_name, type_name, 4))
            self.check(merged, ("real", "imaginary"), (-3, 0), part)

    def test_exact(self):
        data = struct.pack("<6d", 1e300, 1, 1, -1e300, -1e300, 1e300)
        path = self.write("x.npy", npy("<c16", "(3,)", data))
        result = self.succeed_json("sum", path, "--exact")
        self.check(result, ("real", "imaginary"), (1, 1), "f64")
        self.assertEqual((result["guarantee"], result["fixed_real"]), ("exact", self.succeed_json("sum", path)["real"]))
        self.fail_with("of complex numbers sum, dot, mean, mean_variance, sum_of_squares and norm2 are exact", "norm1", path, "--exact")
        done = subprocess.run(["bash", "-c", 'ulimit -f 1; exec "$0" "$@"', TOOL, "mean_variance", self.write("y.bin", bytes(800)), "--type", "f64",
                               "--exact", "--state", os.path.join(self.folder, "large")], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), r"\Aonefold: [^\n]*File too large[^\n]*\n\Z")
        self.assertEqual([name for name in os.listdir(self.folder) if "partial" in name or name == "large"], [])
        begun = self.succeed_json("sum", self.write("z.bin", bytes(8)), "--type", "f64", "--begin", "0010", "--state", os.path.join(self.folder, "ten"))
        self.assertEqual(begun["begin"], 10)
        self.fail_with("the name is empty", "sum", path, "--begin", "5", "--state", "")
        self.fail_with("norm1 of c128 has no exact state to be saved", "norm1", path, "--exact", "--state", os.path.join(self.folder, "s.npy"))

    def test_exact_states(self):
        numbers = [complex((3 * i % 7 - 3) * 2.0 ** (i * 5 % 40 - 20), (i * i % 11 - 5) * 2.0 ** (20 - i * 7 % 40)) for i in range(300)]
        states = [os.path.join(self.folder, f"{name}.npy") for name in ("even", "odd", "both", "whole")]
        for type_name, descr, part in (("c64", "<c8", "f"), ("c128", "<c16", "d")):
            def file(name, some):
                return self.write(f"{name}.npy", npy(descr, f"({len(some)},)", b"".join(struct.pack(f"<2{part}", one.real, one.imag) for one in some)))
            whole, parts = file("x", numbers), [file(f"x{i}", numbers[i::2]) for i in range(2)]
            words_of = {"sum": 2 * (19 if part == "f" else 76), "dot": 2 * (28 if part == "f" else 142), "norm2": 28 if part == "f" else 142,
                        "moments": 2 * (39 if part == "f" else 210)}
            for form, words in (("sum", words_of["sum"]), ("mean", words_of["sum"]), ("mean_variance", words_of["moments"]), ("dot", words_of["dot"]), ("sum_of_squares", words_of["norm2"]), ("norm2", words_of["norm2"])):
                with self.subTest(type=type_name, form=form):
                    two = [1, 1] if form == "dot" else [1]
                    expected = self.succeed_json(form, *[whole for _ in two], "--exact", "--state", states[3])
                    for x, state in zip(parts, states):
                        self.assertEqual(self.succeed_json(form, *[x for _ in two], "--exact", "--state", state)["saved_state"], state)
                    merged = self.succeed_json("merge", *states[:2], "--form", form, "--state", states[2])
                    is_of_pairs = form in ("sum", "mean", "mean_variance", "dot")  # others are states of all parts, as real numbers
                    self.assertEqual((merged["type"], merged["count"]), (type_name, 300) if is_of_pairs else ({"f": "f32", "d": "f64"}[part], 600))
                    names = [name for name in expected if name.endswith("bits") and not name.startswith("fixed")]
                    self.assertEqual(len(names), 3 if form == "mean_variance" else 2 if is_of_pairs else 1)
                    self.assertEqual([merged[name] for name in names], [expected[name] for name in names])
                    with open(states[2], "rb") as first, open(states[3], "rb") as other:
                        data = first.read()
                        self.assertEqual(data, other.read())
                    self.assertEqual(len(data), 128 + 8 * words)
            self.assertIn(f"sum of 300 {type_name}", self.succeed("merge", self.state_of("sum", whole)))
            if part == "f":
                wide = self.succeed_json("sum", whole, "--exact", "--accumulate", "c128")
                merged = self.succeed_json("merge", self.state_of("sum", whole), "--accumulate", "c128")
                self.assertEqual([merged[name] for name in ("real_bits", "imaginary_bits")], [wide[name] for name in ("real_bits", "imaginary_bits")])
            self.succeed("dot", whole, whole, "--exact", "--state", states[0])
            self.fail_with(f"is a state of dot of {type_name}, and", "merge", self.state_of("sum", whole), states[0])
            self.fail_with(f"is a state of sum or mean of {type_name}, and --form says norm2", "merge", self.state_of("sum", whole), "--form", "norm2")
        # Both parts are looked at: of other numbers of terms, or damaged.
        state = self.state_of("sum", whole)
        with open(state, "rb") as good:
            words = list(struct.unpack("<152q", good.read()[128:]))
        for change, text in (((76 + 2, 1), "these words are no state"), ((76 + 20, 1 << 40), "these words are no state"), ((2, 1), "these words are no state")):
            self.fail_with(text, "merge", self.write("bad.npy", npy("<i8", "(152,)", pack("i64", [word + change[1] * (i == change[0]) for i, word in enumerate(words)]))))
        # A complex product is a state of two terms for each part, which is two states of real products of one term each but for their number.
        real = self.write("real.npy", npy("<f8", "(1,)", struct.pack("<d", 3)))
        with open(self.state_of("dot", real, real), "rb") as good:
            words = good.read()[128:]
        self.fail_with("bad.npy: these words are no state of complex numbers: the number of their terms is odd", "merge", self.write("bad.npy", npy("<i8", "(284,)", 2 * words)))

    def state_of(self, form, *files):
        state = os.path.join(self.folder, "one.npy")
        self.succeed(form, *files, "--exact", "--state", state)
        return state

    def test_what_has_no_meaning(self):
        for type_name, (path, _, _) in self.paths.items():
            for form in ("min", "max", "min_number", "argmin", "argminmax", "minmax"):
                self.fail_with("complex numbers have no order", form, path)
            self.fail_with(f"does not take elements of type {type_name}", "bit_xor", path)
            self.fail_with("accumulated", "sum", path, "--accumulate", "f64")
            self.fail_with("convert one of them", "dot", path, self.write("x.npy", npy("<f8", "(4,)", bytes(32))))


class Truth(ToolTest):
    """all, any and none, and where absolute values are, of every type and on every backend that can run here."""

    def results(self, *arguments):
        for backend in usable_backends():
            with self.subTest(backend=backend, arguments=arguments):
                yield self.succeed_json(*arguments, "--backend", backend)

    def input(self, type_name, values):
        return [self.write(f"{type_name}.bin", pack(type_name, values)), "--type", type_name]

    def test_all_any_and_none(self):
        for type_name in ALL:
            few = ([1], [0], []) if type_name in ("i8", "f64") else ()  # a process for each result: not all of every type
            for values in ([1] * 5000, [0] * 5000, [0] * 4999 + [1], *few):
                x = self.input(type_name, values)
                for form, value in (("all", all(values)), ("any", any(values)), ("none", not any(values))):
                    for result in self.results(form, *x):
                        self.assertIs(result["value"], value)
                        self.assertEqual((result["bits"], result["result_type"]), ("0x01" if value else "0x00", "u8"))
                        self.assertEqual((result["form"], result["type"], result["guarantee"]), (form, type_name, "fixed"))

    def test_minus_zero_is_zero_and_nan_is_not(self):
        for type_name in FLOATS:
            for result in self.results("any", *self.input(type_name, [0.0, -0.0, -0.0])):
                self.assertIs(result["value"], False)
            for result in self.results("any", self.write("nan.bin", b"\xff" * size(type_name)), "--type", type_name):
                self.assertIs(result["value"], True)

    def test_text(self):
        text = self.succeed("any", *self.input("i32", [0, 5, 0]))
        for line in (r"value +true", r"bits +0x01", r"reduction +any of 3 i32 \(12 bytes\)"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))
        self.assertRegex(self.succeed("none", *self.input("f32", [0, 5, 0])), re.compile("^value +false$", re.M))
        text = self.succeed("argminmax", *self.input("f32", [3.0, -4.0, 12.0, -4.0]))
        for line in (r"min +-4", r"min_bits +0xc0800000", r"min_index +1", r"max +12", r"max_bits +0x41400000", r"max_index +2"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))

    def test_magnitudes_and_both_extremes_with_their_places(self):
        for type_name in ALL:
            values = [5, 9, 2, 9, 2] + [4] * 9000
            if type_name[0] != "u":
                values[1], values[4] = -values[1], -values[4]
            x = self.input(type_name, values)
            size_type = magnitude(type_name)
            for form, value, index in (("argmin_magnitude", 2, 2), ("argmax_magnitude", 9, 1)):
                for result in self.results(form, *x):
                    self.assertEqual((result["value"], result["bits"], result["index"]), (value, bits(size_type, value), index))
                    self.assertEqual(result["result_type"], size_type)
            for result in self.results("argminmax", *x):
                least, most = min(values), max(values)
                self.assertEqual((result["min"], result["min_bits"]), (least, bits(type_name, least)))
                self.assertEqual((result["max"], result["max_bits"]), (most, bits(type_name, most)))
                self.assertEqual((result["min_index"], result["max_index"]), (values.index(least), values.index(most)))
                self.assertNotIn("min_index_bits", result)
                self.assertNotIn("value", result)

    def test_the_smallest_integer_has_a_magnitude(self):
        for type_name in ("i8", "i16", "i32", "i64"):
            least = -(1 << 8 * size(type_name) - 1)
            for result in self.results("argmax_magnitude", *self.input(type_name, [3, least, least])):
                self.assertEqual((result["value"], result["index"]), (-least, 1))

    def test_of_no_elements_there_is_no_place(self):
        for form in ("argminmax", "argmin_magnitude", "argmax_magnitude"):
            for backend in usable_backends():
                self.fail_with("no elements", form, self.write("empty.bin", b""), "--type", "f16", "--backend", backend)


class TwoResults(ToolTest):
    """argmin, argmax, minmax and mean_variance: both results, in text and JSON, on every backend that can run here."""

    def results(self, *arguments):
        for backend in usable_backends():
            with self.subTest(backend=backend, arguments=arguments[:1]):
                yield self.succeed_json(*arguments, "--backend", backend)

    def test_every_form_of_every_type(self):
        for type_name, (descr, _) in TYPES.items():
            numbers = [3, 9, 2, 9, 2, 5] + [4] * 5000
            path = self.write(f"{type_name}.npy", npy(descr, f"({len(numbers)},)", pack(type_name, numbers)))
            for form, value, index in (("argmin", 2, 2), ("argmax", 9, 1)):
                for result in self.results(form, path):
                    self.assertEqual((result["form"], result["result_type"], result["guarantee"]), (form, type_name, "fixed"))
                    self.assertEqual((result["value"], result["bits"], result["index"]), (value, bits(type_name, value), index))
                    self.assertNotIn("index_bits", result)
            for result in self.results("minmax", path):
                self.assertEqual((result["min"], result["min_bits"]), (2, bits(type_name, 2)))
                self.assertEqual((result["max"], result["max_bits"]), (9, bits(type_name, 9)))
                self.assertNotIn("value", result)
            path = self.write(f"{type_name}-few.npy", npy(descr, "(4,)", pack(type_name, [1, 2, 3, 6])))
            real = type_name if type_name == "f32" else "f64"
            for ddof, variance in ((0, 3.5), (1, 14 / 3)):
                for result in self.results("mean_variance", path, "--ddof", str(ddof)):
                    self.assertEqual((result["mean"], result["mean_bits"], result["ddof"]), (3, bits(real, 3), ddof))
                    self.assertEqual((result["variance_bits"], result["result_type"]), (bits(real, variance), real))
            self.assertEqual(self.succeed_json("mean_variance", path)["ddof"], 0)
            self.assertIsNone(self.succeed_json("mean", path)["ddof"])

    def test_text(self):
        path = self.write("x.npy", npy("<f4", "(4,)", pack("f32", [3.0, -4.0, 12.0, -4.0])))
        text = self.succeed("argmin", path, "--backend", "serial")
        for line in (r"value +-4", r"bits +0xc0800000", r"index +1", r"reduction +argmin of 4 f32 \(16 bytes\)"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))
        text = self.succeed("minmax", path)
        for line in (r"min +-4", r"min_bits +0xc0800000", r"max +12", r"max_bits +0x41400000"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))
        text = self.succeed("mean_variance", path, "--ddof", "1", "--accumulate", "f64")
        for line in (r"mean +1.75", r"mean_bits +0x3ffc000000000000", r"variance +57.583333\d+", r"variance_bits +0x[0-9a-f]{16}",
                     r"reduction +mean_variance with ddof 1 of 4 f32 accumulated in f64, as f64 \(16 bytes\)"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))
        text = self.succeed("argmin", path, "--repeat", "3")
        self.assertNotIn("caution", text)

    def test_special_values(self):
        nan = self.write("nan.npy", npy("<f8", "(4,)", pack("f64", [1.0, -math.nan, 2.0, math.nan])))
        for form in ("argmin", "argmax"):
            for result in self.results(form, nan):
                self.assertEqual((result["value"], result["bits"], result["index"]), ("nan", "0x7ff8000000000000", 1))
        for result in self.results("mean_variance", nan):
            self.assertEqual((result["mean"], result["variance"]), ("nan", "nan"))
        infinite = self.write("infinite.npy", npy("<f8", "(3,)", pack("f64", [1.0, math.inf, 2.0])))
        for result in self.results("mean_variance", infinite):
            self.assertEqual((result["mean"], result["variance"]), ("inf", "nan"))

    def test_empty_arrays(self):
        empty = self.write("empty.bin", b"")
        for result in self.results("minmax", empty, "--type", "f32"):
            self.assertEqual((result["min"], result["max"]), ("inf", "-inf"))
        for result in self.results("mean_variance", empty, "--type", "i32"):
            self.assertEqual((result["mean"], result["variance"]), ("nan", "nan"))
        for backend in usable_backends():
            self.fail_with("no elements", "argmin", empty, "--type", "f32", "--backend", backend)

    def test_failures(self):
        path = self.write("x.bin", pack("f32", [1.0, 2.0, 3.0]))
        for ddof in ("-1", "x", "1.5"):
            self.fail_with("--ddof", "mean_variance", path, "--type", "f32", "--ddof", ddof)
        self.fail_with("--ddof", "mean", path, "--type", "f32", "--ddof", "1")
        self.fail_with("--accumulate", "minmax", path, "--type", "f32", "--accumulate", "f64")
        self.fail_with("does not take argmin of f32", "argmin", path, "--type", "f32", "--variant", "parallel_reduce", "--backend", "serial")
        self.fail_with("reduce_together", "reduce_together", path, "--type", "f32")


class Exact(ToolTest):
    """--exact, --state and merge."""

    WORDS = {"sum": (19, 76), "mean": (19, 76), "norm1": (19, 76), "dot": (28, 142), "sum_of_squares": (28, 142), "norm2": (28, 142), "mean_variance": (39, 210)}

    def results(self, *arguments):
        for backend in usable_backends():
            with self.subTest(backend=backend, arguments=arguments):
                yield self.succeed_json(*arguments, "--exact", "--backend", backend)

    def input(self, name, type_name, values):
        return [self.write(f"{name}.bin", pack(type_name, values)), "--type", type_name]

    def words(self, path):
        """The words of a state's file, which is one that NumPy would write."""
        with open(path, "rb") as file:
            data = file.read()
        count = (len(data) - 128) // 8
        words = data[128:]
        self.assertEqual(data, npy("<i8", f"({count},)", words))
        return list(struct.unpack(f"<{count}q", words))

    def scattered(self, count, seed, largest=30):
        """Halves of many sizes and both signs, whose sum a tree rounds."""
        state, values = seed, []
        for _ in range(count):
            state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            values.append(((state >> 33) % 2047 - 1023) * 2.0 ** ((state >> 20) % (2 * largest) - largest))
        return values

    def test_values_and_the_distance_of_the_default(self):
        values = self.scattered(5000, 1)
        total, squares = sum(map(Fraction, values)), sum(Fraction(value) ** 2 for value in values)
        x = self.input("x", "f64", values)
        expected = {"sum": total, "norm1": sum(abs(Fraction(value)) for value in values), "dot": squares, "sum_of_squares": squares, "mean": total / 5000}
        for form, value in expected.items():
            fixed = self.succeed_json(form, x[0], *(x if form == "dot" else x[1:]))
            for result in self.results(form, x[0], *(x if form == "dot" else x[1:])):
                self.assertEqual(result["bits"], bits("f64", float(value)))
                self.assertEqual((result["guarantee"], result["variant"]), ("exact", "superaccumulator"))
                self.assertEqual((result["fixed_value"], result["fixed_bits"]), (fixed["value"], fixed["bits"]))
                self.assertEqual(result["fixed_ulps"], abs(int(result["bits"], 16) - int(fixed["bits"], 16)))
                self.assertNotIn("fixed_ulps", fixed)
        for result in self.results("mean_variance", *x, "--ddof", "1"):
            self.assertEqual(result["mean_bits"], bits("f64", float(total / 5000)))
            self.assertEqual(result["variance_bits"], bits("f64", float((5000 * squares - total**2) / (5000 * 4999))))
            self.assertEqual(result["fixed_variance_ulps"], abs(int(result["variance_bits"], 16) - int(result["fixed_variance_bits"], 16)))
            self.assertIn("fixed_mean_ulps", result)

    def test_the_distance_in_text(self):
        x = self.input("x", "f32", [1.0] + [2.0**-24] * 3)  # one lane of the tree each
        text = self.succeed("sum", *x, "--exact")
        self.assertRegex(text, re.compile(r"^fixed_value +\S+ \(0x[0-9a-f]{8}\), \d+ ulps? away$", re.M))
        self.assertRegex(text, re.compile(r"^guarantee +exact$", re.M))
        cancelling = self.input("y", "f64", [1e300, 1.0] + [0.0] * 510 + [-1e300])
        for result in self.results("sum", *cancelling):
            self.assertEqual((result["value"], result["fixed_value"], result["fixed_ulps"]), (1, 0, int(bits("f64", 1.0), 16)))
        overflowing = self.input("z", "f32", [3e38] + [0.0] * 1023 + [3e38] + [0.0] * 1023 + [-3e38])  # a tile each
        for result in self.results("sum", *overflowing):
            self.assertEqual((result["value"], result["fixed_value"], result["fixed_ulps"]), (struct.unpack("<f", pack("f32", [3e38]))[0], "inf", None))
        self.assertRegex(self.succeed("sum", *overflowing, "--exact"), re.compile(r"^fixed_value +inf \(0x7f800000\), no number of ulps away$", re.M))
        for value, said in ((math.nan, "nan"), (math.inf, "inf")):
            for result in self.results("sum", *self.input("n", "f32", [1.0, value])):
                self.assertEqual((result["value"], result["fixed_value"], result["fixed_ulps"]), (said, said, 0))

    def test_small_floats(self):
        for type_name in ("f16", "bf16"):
            x = self.input("x", type_name, [2048.0, 0.5, -2048.0, 0.25])
            for result in self.results("sum", *x):
                self.assertEqual((result["result_type"], result["value"]), ("f32", 0.75))
        values = [(i % 61 - 30) / 8 for i in range(5000)]
        path = self.write("h.npy", npy("<f2", "(5000,)", pack("f16", values), shift=2))
        for result in self.results("sum_of_squares", path, "--accumulate", "f64"):
            self.assertEqual((result["result_type"], result["bits"]), ("f64", bits("f64", math.fsum(value * value for value in values))))

    def test_forms_that_no_order_changes(self):
        for type_name, form in (("f32", "max"), ("f64", "argmin"), ("i32", "sum"), ("u8", "prod"), ("bf16", "count"), ("i64", "dot")):
            x = self.input("x", type_name, [3, 1, 2])
            arguments = (form, x[0], *(x if form == "dot" else x[1:]))
            default = self.succeed_json(*arguments)
            for result in self.results(*arguments):
                self.assertEqual((result["bits"], result["fixed_bits"], result["fixed_ulps"]), (default["bits"], default["bits"], 0))
                self.assertEqual((result["variant"], result["guarantee"]), ("fixed_order", "exact"))
            if form == "argmin":
                self.assertEqual((result["index"], "fixed_index" in result), (1, False))

    def test_what_has_no_exact_result_says_why(self):
        floats, integers = self.input("x", "f32", [1.0]), self.input("i", "i32", [1])
        for said, *arguments in (
            ("--exact cannot be given: prod of f32 has no exact form: sum, norm1,", "prod", *floats, "--exact"),
            ("fixed_order promises guarantee fixed", "sum", *floats, "--exact", "--variant", "fixed_order"),
            ("--guarantee excludes --exact", "sum", *floats, "--exact", "--guarantee", "none"),
            ("--exact excludes --begin", "sum", *floats, "--exact", "--begin", "1", "--state", "s.npy"),
            ("max of f32 has no exact state to be saved", "max", *floats, "--exact", "--state", "s.npy"),
            ("sum of i32 has no exact state to be saved", "sum", *integers, "--exact", "--state", "s.npy"),
        ):
            with self.subTest(arguments=arguments):
                self.assertNotIn("::", self.fail_with(said, *arguments))

    def test_states_are_merged_to_the_bits_of_the_whole(self):
        for type_name in ("f64", "f16"):
            values = self.scattered(3000, 7, 30 if type_name == "f64" else 3)
            whole = self.input("whole", type_name, values)
            parts = [self.input(f"part{i}", type_name, values[i::3]) for i in range(3)]
            for form, words in self.WORDS.items():
                options = ["--ddof", "1"] if form == "mean_variance" else []
                def arguments(x):
                    return (form, x[0], *(x if form == "dot" else x[1:]), *options)
                states = [os.path.join(self.folder, f"state{i}.npy") for i in range(3)]
                for part, state in zip(parts, states):
                    result = self.succeed_json(*arguments(part), "--exact", "--state", state)
                    self.assertEqual(result["saved_state"], state)
                    self.assertEqual(len(self.words(state)), words[type_name == "f64"])
                both = os.path.join(self.folder, "both.npy")
                self.succeed("merge", *states[1:], "--state", both, "--form", form)
                for wide in ([], ["--accumulate", "f64"]):
                    expected = self.succeed_json(*arguments(whole), "--exact", *wide, "--state", os.path.join(self.folder, "whole.npy"))
                    for files in (states, states[::-1], [both, states[0]]):
                        with self.subTest(type=type_name, form=form, wide=wide, files=files):
                            merged = self.succeed_json("merge", *files, "--form", form, *options, *wide, "--state", both + "2")
                            names = ("mean_bits", "variance_bits") if form == "mean_variance" else ("bits",)
                            self.assertEqual([merged[name] for name in names], [expected[name] for name in names])
                            self.assertEqual((merged["count"], merged["form"], merged["files"]), (3000, form, files))
                            self.assertEqual((merged["result_type"], merged["accumulate"]), (expected["result_type"], expected["accumulate"]))
                            self.assertEqual(self.words(both + "2"), self.words(os.path.join(self.folder, "whole.npy")))

    def test_states_of_integers_are_those_of_doubles(self):
        values = [(1 << 63) - 1 - 977 * i * i for i in range(3000)]
        whole, parts = self.input("whole", "i64", values), [self.input(f"part{i}", "i64", values[i::2]) for i in range(2)]
        for form in ("mean", "norm2", "mean_variance"):
            expected = self.succeed_json(form, *whole, "--exact")
            states = [os.path.join(self.folder, f"state{i}.npy") for i in range(2)]
            for part, state in zip(parts, states):
                self.succeed(form, *part, "--exact", "--state", state)
            merged = self.succeed_json("merge", *states, "--form", form)
            for name in ("mean_bits", "variance_bits") if form == "mean_variance" else ("bits",):
                self.assertEqual(merged[name], expected[name], form)
            self.assertEqual((merged["count"], merged["result_type"]), (3000, "f64"))
            if form == "mean":
                self.assertEqual(merged["value"], float(Fraction(sum(values), 3000)))

    def test_words_that_others_added(self):
        states = []
        for i, values in enumerate(([1e300, 1.0], [-1e300], [2.0, -7.5])):
            states.append(os.path.join(self.folder, f"s{i}.npy"))
            self.succeed("sum", *self.input("x", "f64", values), "--exact", "--state", states[-1])
        total = [sum(words) for words in zip(*map(self.words, states))]
        path = self.write("total.npy", npy("<i8", "(76,)", pack("i64", total), shift=3))
        result = self.succeed_json("merge", path, states[0])
        self.assertEqual((result["value"], result["count"], result["states"], result["form"], result["type"]), (1e300, 7, 4, "sum", "f64"))
        self.assertEqual(self.succeed_json("merge", path)["value"], -4.5)
        self.assertEqual(self.succeed_json("merge", path, "--form", "mean")["value"], -0.9)
        text = self.succeed("merge", path, "--state", states[0])
        for line in (r"value +-4\.5", r"bits +0xc012000000000000", r"reduction +sum of 5 f64", r"states +3 in 1 file", r"saved state +.*s0\.npy .*--form sum.*"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))
        self.assertEqual(self.words(states[0])[1:3], [1, 5], "a file that was merged may be the one that is written")

    def test_a_saved_state_says_what_merge_must_be_told_again(self):
        state = os.path.join(self.folder, "s.npy")
        for exact in ([], ["--exact"]):
            for ddof, told in ("0", False), ("1", True):
                text = self.succeed("mean_variance", *self.input("x", "f64", [1.0, 2.0, 4.0]), "--ddof", ddof, *exact, "--state", state)
                said = re.search(r"^saved state .*$", text, re.M).group()
                self.assertEqual("--ddof 1" in said, told, said)
            merged = self.succeed("merge", state, "--ddof", "1", "--state", state, *(["--form", "mean_variance"] if exact else []))
            self.assertRegex(merged, re.compile(r"^saved state .*--ddof 1.*$", re.M))

    def test_what_a_state_is_taken_for(self):
        for form, taken_for in (("sum", "sum"), ("mean", "sum"), ("norm1", "norm1"), ("norm2", "dot"), ("sum_of_squares", "dot"), ("mean_variance", "mean_variance")):
            state = os.path.join(self.folder, "s.npy")
            self.succeed(form, *self.input("x", "bf16", [3.0, -4.0]), "--exact", "--state", state)
            result = self.succeed_json("merge", state)
            self.assertEqual((result["form"], result["type"], result["count"]), (taken_for, "f32", 2))
            self.assertIn("of 2 x 2 f32, f16 or bf16" if taken_for == "dot" else "of 2 f32, f16 or bf16", self.succeed("merge", state))
        self.assertEqual((result["mean"], result["variance"], result["ddof"]), (-0.5, 12.25, 0))

    def test_empty_arrays(self):
        empty = self.write("empty.bin", b"")
        some = os.path.join(self.folder, "some.npy")
        for form, words in self.WORDS.items():
            x = [empty, empty, "--type", "f64"] if form == "dot" else [empty, "--type", "f64"]
            state = os.path.join(self.folder, f"{form}.npy")
            default = self.succeed_json(form, *x)
            name = "mean" if form == "mean_variance" else "value"
            for result in self.results(form, *x, "--state", state):
                self.assertEqual((result[name], result["fixed_mean_ulps" if name == "mean" else "fixed_ulps"]), (default[name], 0))
            self.assertEqual(self.words(state), [0] * words[1])
            merged = self.succeed_json("merge", state, state, "--form", form)
            self.assertEqual((merged[name], merged["count"], merged["states"]), (default[name], 0, 0))
            x = self.input("x", "f64", [3.0, 4.0])
            self.succeed(form, x[0], *(x if form == "dot" else x[1:]), "--exact", "--state", some)
            self.assertEqual(self.succeed_json("merge", state, some, "--form", form)["states"], 1)
        self.fail_with("holds 76 words, and", "merge", some, os.path.join(self.folder, "sum.npy"))

    def test_damaged_and_foreign_states(self):
        state, other = os.path.join(self.folder, "s.npy"), os.path.join(self.folder, "o.npy")
        x = self.input("x", "f64", [3.0, 4.0])
        self.succeed("sum", *x, "--exact", "--state", state)
        words = self.words(state)
        with open(state, "rb") as file:
            good = file.read()

        def damaged(at, change):
            return npy("<i8", "(76,)", pack("i64", [wrap("i64", word + change) if i == at else word for i, word in enumerate(words)]))

        for expected, data in (
            ("truncated", good[:-1]),
            ("is no state", b""),
            ("is no state", pack("i64", words)),
            ("is no state", b"\x89HDF\r\n\x1a\n" + bytes(200)),
            ("holds f64 elements, and a state int64 words", npy("<f8", "(76,)", pack("f64", [float(word) for word in words]))),
            ("big-endian", npy(">i8", "(76,)", bytes(608))),
            ("has 2 axes", npy("<i8", "(2, 38)", pack("i64", words))),
            ("holds 75 words, which no state has", npy("<i8", "(75,)", pack("i64", words[:75]))),
            ("holds 0 words, which no state has", npy("<i8", "(0,)", b"")),
            *(("these words are no state", damaged(at, change)) for at in range(0, 76, 5) for change in (1, -(2**63))),
            ("these words are no state", npy("<i8", "(76,)", pack("i64", [wrap("i64", word * 2**31 * 4) for word in words]))),
        ):
            with self.subTest(expected=expected, data=data[:60]):
                path = self.write("bad.npy", data)
                self.assertTrue(self.fail_with(expected, "merge", path).startswith(f"onefold: {path}: "))
                self.fail_with(f"{path}: ", "merge", state, path, "--state", other)
                self.assertFalse(os.path.exists(other))
        self.succeed("norm1", *x, "--exact", "--state", other)
        self.fail_with(f"{other}: is a state of norm1 of f64, and {state} of sum or mean of f64", "merge", state, other)
        self.succeed("norm2", *self.input("y", "f32", [1.0]), "--exact", "--state", other)
        self.fail_with(f"{other}: is a state of dot, sum_of_squares or norm2 of f32, f16 or bf16, and", "merge", state, other)
        self.fail_with("is a state of sum or mean of f64, and --form says norm2", "merge", state, "--form", "norm2")
        self.fail_with("is a state of sum or mean of f64, and --form says max", "merge", state, "--form", "max")
        self.fail_with("reduce_together not in", "merge", state, "--form", "reduce_together")
        self.fail_with("--ddof is for mean_variance", "merge", state, "--ddof", "1")
        self.fail_with("No such file", "merge", state, state + "missing")
        self.fail_with("files is required", "merge")
        self.fail_with("sum of f64 cannot be accumulated in f32: leave --accumulate out", "merge", state, "--accumulate", "f32")

    def test_a_state_that_cannot_be_written(self):
        path, *type_of = self.input("x", "f64", [3.0, 4.0])
        for name in (path, os.path.join(self.folder, ".", "x.bin")):
            self.fail_with("is what is reduced: give --state the name of another file", "sum", path, *type_of, "--exact", "--state", name)
        self.assertEqual(self.succeed_json("sum", path, *type_of)["value"], 7, "it is still there")
        self.fail_with("cannot be written: No such file", "sum", path, *type_of, "--exact", "--state", os.path.join(self.folder, "no", "x.npy"))
        self.fail_with("cannot be written: Is a directory", "sum", path, *type_of, "--exact", "--state", self.folder)
        if os.path.exists("/dev/full"):
            self.fail_with("cannot be written: No space left", "sum", path, *type_of, "--exact", "--state", "/dev/full")

    def test_many_runs(self):
        result = self.succeed_json("sum", *self.input("x", "f32", self.scattered(1000, 3)), "--exact", "--repeat", "3")
        self.assertEqual((result["runs"], result["distinct_values"]), (3, 1))


class Ranges(ToolTest):
    """--state without --exact, --begin, and merge: the parts of one array."""

    def setUp(self):
        super().setUp()
        # Thirds in a row, whose sum depends on its order, cut within tiles and at a tile's border: 1024 floats.
        self.values = [(i * 7919 % 1000 - 500) / 3 for i in range(5000)]
        self.cuts = [0, 700, 2048, 5000]
        self.whole = self.write("whole.bin", pack("f32", self.values))
        self.parts = [self.write(f"part{i}.bin", pack("f32", self.values[begin:end])) for i, (begin, end) in enumerate(zip(self.cuts, self.cuts[1:]))]
        self.states = [os.path.join(self.folder, f"part{i}.state") for i in range(3)]

    def save(self, form, *options):
        """Writes the states of all parts; returns what is said of each."""
        said = []
        for part, begin, state in zip(self.parts, self.cuts, self.states):
            second = [part] if form == "dot" else []
            said.append(self.succeed_json(form, part, *second, "--type", "f32", *options, "--begin", str(begin), "--state", state))
        return said

    def test_parts_have_the_bits_of_the_whole_on_every_backend(self):
        for backend in usable_backends():
            for form, *options in (("sum", "--accumulate", "f64"), ("dot",), ("argmin",), ("mean_variance", "--ddof", "1")):
                with self.subTest(form=form, backend=backend):
                    second = [self.whole] if form == "dot" else []
                    whole = self.succeed_json(form, self.whole, *second, "--type", "f32", "--backend", "serial", *options)
                    said = self.save(form, *options, "--backend", backend)
                    ddof = options if form == "mean_variance" else []
                    merged = self.succeed_json("merge", *self.states[::-1], *ddof)
                    keys = [key for key in whole if key.endswith("bits") or key in ("value", "index", "mean", "variance")]
                    self.assertGreaterEqual(len(keys), 2)
                    self.assertEqual([merged[key] for key in keys], [whole[key] for key in keys])
                    for key in ("form", "type", "accumulate", "result_type", "ddof", "guarantee", "count"):
                        self.assertEqual(merged[key], whole[key], key)
                    self.assertEqual((merged["begin"], merged["states"], merged["files"]), (0, 3, self.states[::-1]))
                    for one, begin, state, end in zip(said, self.cuts, self.states, self.cuts[1:]):
                        self.assertEqual((one["begin"], one["count"], one["saved_state"], one["backend"]), (begin, end - begin, state, backend))
                        for key in keys:
                            self.assertEqual(one[key] is None, begin != 0, key)

    def test_states_are_merged_in_steps_and_say_what_they_are_of(self):
        self.save("sum")
        first, later, other = self.states[0], self.states[1], self.states[2]
        with open(first, "rb") as file:
            self.assertEqual(file.read(8), b"onefold\0")
        text = self.succeed("merge", other, later, "--state", later)  # over one that is read
        for line in (r"value +none yet: .*", r"reduction +sum of 4300 f32", r"range +elements 700 to 4999", r"states +2 in 2 files", r"saved state +.*part1\.state \(.*neighbours\)"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))
        merged = self.succeed_json("merge", later, first, "--form", "sum", "--state", later)
        whole = self.succeed_json("sum", self.whole, "--type", "f32", "--repeat", "2", "--state", other)
        self.assertEqual((merged["bits"], merged["saved_state"], whole["begin"], whole["distinct_values"]), (whole["bits"], later, 0, 1))
        with open(later, "rb") as merged, open(other, "rb") as whole:
            self.assertEqual(merged.read(), whole.read(), "equal ranges have equal bytes")
        text = self.succeed("sum", self.parts[1], "--type", "f32", "--begin", "700", "--state", later)
        for line in (r"value +none yet: .*", r"range +elements 700 to 2047", r"saved state +.*neighbours\)"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))
        empty = self.write("empty.bin", b"")
        result = self.succeed_json("argmin", empty, "--type", "f32", "--state", later)
        self.assertEqual((result["value"], result["index"], result["count"]), (None, None, 0))
        self.fail_with("is of no elements, which have no argmin", "merge", later)

    def test_what_does_not_fit_is_refused_by_name_and_what_is_there_stays(self):
        self.save("sum")
        first, later, other = self.states
        exact = os.path.join(self.folder, "exact.npy")
        self.succeed("sum", self.whole, "--type", "f32", "--exact", "--state", exact)
        with open(first, "rb") as file:
            good = file.read()
        damaged = self.write("damaged.state", good[:40] + bytes([good[40] ^ 1]) + good[41:])
        target = self.write("target", b"mine")
        data = [self.whole, "--type", "f32"]
        for said, *arguments in (
            (f"{other}: begins at element 2048, and the file before it, {first}, ends before element 700", "merge", other, first),
            (f"{first}: begins at element 0, and {first} has the elements 0 to 699", "merge", first, later, first),
            (f"{exact}: is no state of a range", "merge", first, exact),
            (f"{damaged}: the bytes of the state of a range are damaged", "merge", damaged, later),
            (f"{self.whole}: is no state", "merge", self.whole),
            (f"{first}: is a state of sum of f32, and --form says norm2", "merge", first, "--form", "norm2"),
            (f"{first}: is a state of sum, and --ddof is for mean_variance", "merge", first, "--ddof", "1"),
            (f"{first}: is a state of sum of f32, which --accumulate cannot change", "merge", first, "--accumulate", "f64"),
            ("is what is reduced", "sum", *data, "--state", self.whole),
            ("made by fixed_order alone", "sum", *data, "--variant", "parallel_reduce", "--backend", "serial"),
            ("--state: needs guarantee fixed", "sum", *data, "--guarantee", "none"),
            ("-1 is no whole number", "sum", *data, "--begin", "-1"),
            ("no element has the index 9223372036854775807", "sum", *data, "--begin", str(2**63 - 1)),
            ("a count of 5000 elements behind 2305843009213693000 cannot be", "sum", *data, "--begin", "2305843009213693000"),
        ):
            with self.subTest(arguments=arguments):
                self.assertNotIn("::", self.fail_with(said, *arguments, *([] if "--state" in arguments else ["--state", target])))
        self.fail_with(f"{other}: no file begins at element 0, the first one at 700", "merge", other, later)
        self.fail_with("--begin requires --state", "sum", *data, "--begin", "1")
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"mine")


class Check(ToolTest):
    def test_every_usable_backend_gives_the_golden_bits(self):
        result = self.succeed_json("check")
        self.assertEqual(result["differences"], 0)
        places = {place["place"].split(",")[0] for place in result["places"]}
        self.assertEqual(places, set(usable_backends()))
        for place in result["places"]:
            self.assertEqual((place["agreeing_rows"], place["differences"]), (place["rows"], []))
            self.assertGreater(place["rows"], 6000)
            self.assertGreaterEqual(place["cases"], 3 * place["rows"])
        text = self.succeed("check", "--backend", "serial")
        rows = result["places"][0]["rows"]
        self.assertRegex(text, rf"\Aserial: {rows} of {rows} rows\n\d+ cases, 0 differences\n\Z")

    def test_failures(self):
        self.fail_with("tpu", "check", "--backend", "tpu")
        if "cuda" not in usable_backends():
            self.fail_with("cuda cannot be used here", "check", "--backend", "cuda")


class Reports(ToolTest):
    """What is printed beside the value."""

    def setUp(self):
        super().setUp()
        self.path = self.write("x.npy", npy("<f4", "(1000, 100)", pack("f32", [1.0] * 100000)))

    def test_text(self):
        text = self.succeed("sum", self.path, "--backend", "serial")
        for line in (r"value +100000", r"bits +0x47c35000", r"reduction +sum of 100000 f32 \(400\.00 kB\)", r"backend +serial, 1 thread",
                     r"input +npy, memory-mapped, shape \(1000, 100\)", r"time +[0-9.]+ (us|ms|s) \(one run.*", r"bandwidth +[0-9.e+-]+ GB/s"):
            self.assertRegex(text, re.compile(f"^{line}$", re.M))

    def test_json_of_one_run(self):
        result = self.succeed_json("sum", self.path, "--backend", "serial")
        self.assertEqual((result["backend"], result["threads"], result["device"]), ("serial", 1, None))
        self.assertEqual((result["runs"], result["untimed_run_first"], result["copy_time_s"]), (1, False, None))
        self.assertEqual((result["file"], result["format"], result["bytes"]), (self.path, "npy", 400000))
        self.assertGreater(result["time_s"], 0)
        self.assertAlmostEqual(result["bandwidth_gb_per_s"], 4e-4 / result["time_s"], delta=1e-6 / result["time_s"])

    def test_repeat_gives_the_median(self):
        result = self.succeed_json("sum", self.path, "--repeat", "5")
        self.assertEqual((result["runs"], result["untimed_run_first"]), (5, True))
        self.assertLessEqual(result["time_min_s"], result["time_s"])
        self.assertLessEqual(result["time_s"], result["time_max_s"])
        self.assertIn("median of 4 runs after an untimed one", self.succeed("sum", self.path, "--repeat", "4"))
        self.assertIn("one run after an untimed one", self.succeed("sum", self.path, "--repeat", "1"))

    def test_a_cuda_variant_runs_its_reference_on_the_cpu_and_says_so(self):
        name = next(v["name"] for v in json.loads(self.succeed("variants", "--json")) if v["backend"] == "cuda")
        result = self.succeed_json("sum", self.path, "--backend", "serial", "--variant", name, "--finish", "host", "--block-size", "256")
        self.assertEqual(result["variant"], name)
        self.assertEqual(result["implementation"], "Kokkos::parallel_reduce")
        self.assertIn(f"{name}, run by Kokkos::parallel_reduce", self.succeed("sum", self.path, "--variant", name))

    def test_threads_are_those_asked_for(self):
        if "openmp" in usable_backends():
            result = self.succeed_json("sum", self.path, "--backend", "openmp", "--threads", "1")
            self.assertEqual((result["backend"], result["threads"]), ("openmp", 1))

    def test_cuda_reports_launch_and_copy(self):
        if "cuda" not in usable_backends():
            self.skipTest("no usable GPU")
        result = self.succeed_json("sum", self.path, "--backend", "cuda", "--device", "0", "--repeat", "3")
        self.assertEqual((result["backend"], result["device"], result["threads"]), ("cuda", 0, None))
        for key in ("block_size", "grid_size", "launches", "copy_time_s"):
            self.assertGreater(result[key], 0)
        text = self.succeed("sum", self.path, "--backend", "cuda")
        self.assertRegex(text, r"(?m)^launch +\d+ blocks? of \d+ threads, \d+ launch(es)?")
        self.assertRegex(text, r"(?m)^copy to the GPU +")

    def test_a_file_that_goes_through_the_gpu_in_pieces(self):
        if "cuda" not in usable_backends():
            self.skipTest("no usable GPU")
        # Numbers on both sides of the ends of pieces of 16 or 64 MiB, of a tile's, and of the file; zeros, which are nowhere on the disk, between them.
        megabytes, count = 288, (288 << 20) // 4 + 5
        path = self.write("pieces.bin", b"")
        os.truncate(path, 4 * count)
        with open(path, "r+b") as file:
            for number, at in enumerate([0, 20, *(m << 20 for m in range(16, megabytes + 1, 16)), 4096 * 511, 4 * count - 8]):
                file.seek(max(at - 4, 0))
                file.write(pack("f32", [0.1 + number, -0.3 * number - 1e-7]))
        for form, more in (("sum", ()), ("argmin", ()), ("norm2", ()), ("mean_variance", ()), ("sum", ("--accumulate", "f64")),
                           ("sum", ("--exact",)), ("mean", ("--exact",))):
            with self.subTest(form=form, more=more):
                here, there = (self.succeed_json(form, path, "--type", "f32", "--backend", backend, *more) for backend in ("serial", "cuda"))
                self.assertEqual((there["backend"], there["count"]), ("cuda", count))
                keys = ("value", "bits", "index", "mean_bits", "variance_bits")
                self.assertEqual([there.get(key) for key in keys], [here.get(key) for key in keys])
                self.assertIsInstance(here.get("value", here.get("mean")), float)  # and no NaN, which is text

    def test_every_usable_cuda_variant_by_name(self):
        if "cuda" not in usable_backends():
            self.skipTest("no usable GPU")
        for variant in json.loads(self.succeed("variants", "--backend", "cuda", "--json")):
            if variant["usable"] and "sum" in variant["supported"].get("f32", []):
                with self.subTest(variant=variant["name"]):
                    result = self.succeed_json("sum", self.path, "--backend", "cuda", "--variant", variant["name"])
                    self.assertEqual((result["value"], result["variant"]), (100000, variant["name"]))

    def test_names_that_are_no_text(self):
        odd = os.fsencode(self.folder) + b"/a\nb\xff.npy"
        with open(odd, "wb") as file:
            file.write(npy("<f4", "(1,)", pack("f32", [1.0])))
        json.loads(run("sum", odd, "--json").stdout)
        self.assertIn(rb"a\x0ab", run("sum", odd).stdout)
        self.fail_with(r"a\x0ab", "sum", odd + b"missing")


class Failures(ToolTest):
    """Every failure: status 2 and one line that names the file and says what is wrong."""

    def fail_on(self, expected, path, *options):
        text = self.fail_with(expected, "sum", path, *options)
        self.assertTrue(text.startswith(f"onefold: {path}: "), text)

    def test_what_is_no_file(self):
        self.fail_on("No such file", os.path.join(self.folder, "missing.npy"))
        self.fail_on("is a directory", self.folder)
        self.fail_on("pipe or a device", "/dev/null", "--type", "f32")
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        self.fail_on("pipe or a device", pipe, "--type", "f32")

    def test_damaged_npy_files(self):
        good = npy("<f4", "(4,)", bytes(16))
        for expected, data in (
            ("truncated", b""),
            ("truncated", good[:5]),
            ("truncated", good[:9]),
            ("truncated", good[:60]),
            ("truncated", good[:-1]),
            ("after the data", good + b"x"),
            ("does not start as a .npy file", b"hello" * 20),
            ("format version 9.0", good.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09")),
            ("announces a header of", good[:8] + b"\xff\xff" + good[10:]),
            ("announces a header of", b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + good[10:]),
            ("damaged .npy header", good.replace(b"{", b"[")),
            ("damaged .npy header", good.replace(b"'shape'", b"'shale'")),
            ("damaged .npy header", good.replace(b"(4,)", b"(-4,)")),
            ("64 bits", npy("<f4", "(4294967296, 4294967296)", bytes(16))),
            ("64 bits", npy("<f8", "(2305843009213693953,)", bytes(8))),
            ("64 bits", npy("<f8", "(99999999999999999999,)", bytes(8))),
        ):
            with self.subTest(expected=expected, start=data[:12]):
                self.fail_on(expected, self.write("x.npy", data))

    def test_npy_files_of_other_types(self):
        for descr, length, expected in ((">f4", 4, "big-endian"), (">i8", 8, "big-endian"), (">f2", 2, "big-endian"), (">i2", 2, "big-endian"),
                                        ("|V2", 2, "give --type bf16"), (">c8", 8, "big-endian"), ("<c32", 32, "another size"), ("|O", 8, "objects"),
                                        ("<i16", 16, "another size"), ("<f16", 16, "extended-precision"), ("<U3", 12, "no numbers")):
            with self.subTest(descr=descr):
                self.fail_on(expected, self.write("x.npy", npy(descr, "(2,)", bytes(2 * length))))
        structured = npy("@", "(1,)", bytes(8)).replace(b"'@'", b"[('x', '<f4'), ('y', '<f4')]")
        length = len(structured) - 8 - 10
        self.fail_on("records", self.write("x.npy", structured[:8] + struct.pack("<H", length) + structured[10:]))

    def test_standard_input(self):
        self.fail_with("standard input is not read", "sum", "-", "--type", "f64")

    def test_raw_files(self):
        path = self.write("x.bin", bytes(10))
        self.fail_on("--type f32, f64, i32, u32, i64, u64, i8, u8, i16, u16, f16, bf16, c64 or c128", path)
        self.fail_on("10 bytes, which is no whole number of f32 elements", path, "--type", "f32")
        self.fail_on("unpack it", self.write("x.npz", b"PK\x03\x04" + bytes(20)), "--type", "f32")
        self.fail_on("name the dataset", self.write("x.h5", b"\x89HDF\r\n\x1a\n" + bytes(20)), "--type", "f32")
        self.fail_on("--type says f32", self.write("x.npy", npy("<f8", "(1,)", bytes(8))), "--type", "f32")

    def test_what_the_library_refuses(self):
        path = self.write("x.bin", bytes(16))
        for expected, *options in (
            ("'onefold variants' lists them", "--variant", "no_such_variant"),
            ("no variant is named", "--variant", "no_such_variant"),
            ("did you mean vector_load", "--variant", "vectorload"),
            ("from 1 up", "--backend", "openmp", "--threads", "-3"),
            *([] if "openmp" in usable_backends() else [("without the openmp backend", "--backend", "openmp", "--threads", "3")]),
            ("", "--backend", "cuda", "--device", "999"),
        ):
            with self.subTest(options=options):
                self.fail_with(expected, "sum", path, "--type", "f32", *options)

    def test_a_cuda_request_where_there_is_no_gpu(self):
        if "cuda" in usable_backends():
            self.skipTest("there is a usable GPU")
        self.fail_with("", "sum", self.write("x.bin", bytes(16)), "--type", "f32", "--backend", "cuda")

    def test_usage_errors(self):
        path = self.write("x.bin", bytes(16))
        for expected, *arguments in (
            ("sum, dot, norm2 or another form, merge, variants, info or check",),
            ("frobnicate", "frobnicate"),
            ("file", "sum"),
            ("another", "sum", path, "another", "--type", "f32"),
            ("f8", "sum", path, "--type", "f8"),
            ("tpu", "sum", path, "--type", "f32", "--backend", "tpu"),
            ("never", "sum", path, "--type", "f32", "--finish", "never"),
            ("--repeat", "sum", path, "--type", "f32", "--repeat", "0"),
            ("--repeat", "sum", path, "--type", "f32", "--repeat", "many"),
            ("--block-size", "sum", path, "--type", "f32", "--block-size", "-1"),
            ("--grid-size", "sum", path, "--type", "f32", "--grid-size", "99999999999999999999"),
            ("--threads", "sum", path, "--type", "f32", "--threads", "2.5"),
            ("needs --backend openmp", "sum", path, "--type", "f32", "--threads", "2"),
            ("needs --backend cuda", "sum", path, "--type", "f32", "--device", "0"),
            ("--markdown", "variants", "--json", "--markdown"),
            ("--frob", "info", "--frob"),
        ):
            with self.subTest(arguments=arguments):
                self.fail_with(expected, *arguments)

    def test_names_that_do_not_exist_bring_a_suggestion(self):
        path = self.write("x.bin", bytes(16))
        for expected, *arguments in (
            ("there is no command summ: did you mean sum?", "summ", path),
            ("there is no command asum: did you mean norm1?", "asum", path, "--type", "f32"),
            ("there is no command nrm2: did you mean norm2?", "nrm2", path),
            ("there is no command frobnicate", "frobnicate"),
            (f"did you mean {path}:/a/b?", "sum", f"{path}:a/b"),
            ("did you mean fixed_order?", "sum", path, "--type", "f32", "--variant", "fixd_order"),
        ):
            with self.subTest(arguments=arguments):
                self.assertNotIn("::", self.fail_with(expected, *arguments))

    def test_files_of_proc(self):
        if not os.path.exists("/proc/self/maps"):
            self.skipTest("no /proc")
        self.fail_on("says that it has no bytes, and has some", "/proc/self/maps", "--type", "f32")
        self.assertEqual(self.succeed_json("sum", self.write("empty.bin", b""), "--type", "f32")["count"], 0)

    def test_a_misaligned_file_that_is_cut_short_while_it_is_copied(self):
        path = self.write("x.npy", npy("<f8", f"({1 << 27},)", b"", shift=1))
        header = os.path.getsize(path)
        os.truncate(path, header + (1 << 30))
        with subprocess.Popen([TOOL, "sum", path, "--backend", "serial"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
            try:
                while tool.poll() is None:
                    with open(f"/proc/{tool.pid}/maps", "rb") as maps:
                        if b"/x.npy" in maps.read():
                            break
                os.truncate(path, header)
                out, err = tool.communicate(timeout=60)
            finally:
                tool.kill()
        self.assertEqual((tool.returncode, out), (2, b""), err)
        self.assertRegex(err.decode(), r"\Aonefold: [^\n]*x\.npy: (became shorter|has )[^\n]*\n\Z")

    # Within its last page a file that is cut short has zeros, and no signal says so.
    def test_a_file_that_is_cut_short_within_a_page(self):
        path = self.write("x.bin", b"")
        os.truncate(path, (1 << 30) + 2048)
        with subprocess.Popen(
            [TOOL, "sum", path, "--type", "f64", "--backend", "serial"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as tool:
            try:
                while tool.poll() is None:
                    with open(f"/proc/{tool.pid}/maps", "rb") as maps:
                        if b"/x.bin" in maps.read():
                            break
                os.truncate(path, (1 << 30) + 1024)
                out, err = tool.communicate(timeout=60)
            finally:
                tool.kill()
        self.assertEqual((tool.returncode, out), (2, b""), err)
        self.assertRegex(err.decode(), r"\Aonefold: [^\n]*x\.bin: became shorter[^\n]*\n\Z")

    def statuses(self, limits, *arguments):
        found = {}
        for limit in limits:
            if 0 in found and arguments[0] == "check":  # takes seconds, and more memory is enough too
                break
            done = subprocess.run([TOOL, *arguments], capture_output=True, timeout=120, env={**os.environ, "OMP_NUM_THREADS": "2"},
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            found.setdefault(done.returncode, []).append((limit, done.stderr[-200:]))
        return found

    def test_out_of_memory_is_never_the_status_of_a_difference_nor_a_crash(self):
        path = self.write("x.bin", bytes(8000))
        # Below the program's own size the system kills it before its first instruction.
        loads, fails = 1 << 30, os.path.getsize(TOOL) + (1 << 21)
        if 0 not in self.statuses([loads], "sum", path, "--type", "f64"):
            self.skipTest("the tool needs more address space than can be taken from it, as with a sanitizer")
        # The loader, too, needs memory, and crashes where it can have nearly enough. What comes before it is done is not the tool's.
        while loads - fails > 1 << 14:
            middle = (loads + fails) // 2
            status = list(self.statuses([middle], "sum", path, "--type", "f64"))[0]
            loads, fails = (loads, middle) if status in (127, -signal.SIGSEGV) else (middle, fails)
        near = range(loads, loads + (1 << 20), 1 << 14)  # constructors and main()'s beginning
        wide = range(loads, loads + (48 << 20), 3 << 20)  # threads
        steps = range(loads, loads + (96 << 20), 6 << 20)  # the golden data
        for limits, *arguments in ((near, "sum", path, "--type", "f64"), (wide, "sum", path, "--type", "f64"), (steps, "check", "--backend", "serial")):
            with self.subTest(arguments=arguments):
                found = self.statuses(limits, *arguments)
                self.assertLessEqual(set(found), {0, 2, 127}, {status: found[status][0] for status in found})
                self.assertIn(2, found)
                for _, err in found[2]:
                    self.assertIn(b"onefold: ", err)

    def test_a_file_that_is_cut_short_meanwhile(self):
        path = self.write("x.bin", bytes(1 << 20))
        with subprocess.Popen([TOOL, "sum", path, "--type", "f64", "--backend", "serial", "--repeat", "1000000000"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
            try:
                time.sleep(0.5)
                self.assertIsNone(tool.poll(), "the tool ended before its file was cut short")
                os.truncate(path, 0)
                out, err = tool.communicate(timeout=60)
            finally:
                tool.kill()
        self.assertEqual((tool.returncode, out), (2, b""), err)
        self.assertRegex(err.decode(), r"\Aonefold: [^\n]*x\.bin: became shorter[^\n]*\n\Z")

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            for arguments in (["variants"], ["--version"], ["--help"], ["sum", "--help"]):
                done = subprocess.run([TOOL, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(done.returncode, 2, arguments)
                self.assertRegex(done.stderr.decode(), r"\Aonefold: [^\n]*written[^\n]*\n\Z")

    def test_no_bytes_crash_the_tool(self):
        good = npy("<f4", "(4,)", bytes(16))
        for at in range(len(good)):
            for byte in (0x00, 0x27, 0xFF):
                done = run("sum", self.write("x.npy", good[:at] + bytes([byte]) + good[at + 1:]))
                self.assertIn(done.returncode, (0, 2), (at, byte, done.stderr))
                self.assertEqual(done.stderr.count(b"\n"), 1 if done.returncode else 0)
            if at > 12 and good[at:at + 1] == b" ":
                break  # the rest is padding and zeros; the unit test does damage at random


class Hdf5(ToolTest):
    def setUp(self):
        super().setUp()
        if HDF5_SAMPLES is None:
            self.skipTest("built without HDF5")
        subprocess.run([HDF5_SAMPLES, self.folder], check=True, timeout=60)
        self.samples = os.path.join(self.folder, "samples.h5")

    def test_sums(self):
        for dataset in (*TYPES, "i16", "u16", "nested/grid", "chunked", "compressed", "big_endian", "external", "i16_big_endian"):
            with self.subTest(dataset=dataset):
                options = ["--follow-external"] if dataset == "external" else []
                result = self.succeed_json("sum", f"{self.samples}:/{dataset}", *options)
                self.assertEqual((result["value"], result["count"], result["format"]), (500500, 1000, "hdf5"))
                self.assertEqual(result["memory_mapped"], dataset in ALL or dataset == "nested/grid")

    def test_small_types(self):
        numbers = range(1, 1001)
        for dataset, value in (("i8", sum(wrap("i8", number) for number in numbers)), ("u8", sum(number % 256 for number in numbers)),
                               ("f16", 500500), ("f16_big_endian", 500500), ("f16_compressed", 500500)):
            result = self.succeed_json("sum", f"{self.samples}:/{dataset}", "--accumulate", "f64") if dataset[0] == "f" else self.succeed_json("sum", f"{self.samples}:/{dataset}")
            self.assertEqual((result["value"], result["count"]), (value, 1000), dataset)
        for dataset in ("bf16", "bf16_big_endian", "bf16_compressed"):
            result = self.succeed_json("max", f"{self.samples}:/{dataset}")
            self.assertEqual((result["value"], result["bits"], result["type"]), (1000, "0x447a", "bf16"))
        result = self.succeed_json("count", f"{self.samples}:/booleans")
        self.assertEqual((result["value"], result["type"]), (3, "u8"))
        self.assertIs(self.succeed_json("all", f"{self.samples}:/booleans_compressed")["value"], True)

    def test_complex_numbers(self):
        for dataset in ("c64", "c64_compressed", "c64_with_gaps", "c128", "c128_big_endian", "c128_of_others"):
            result = self.succeed_json("sum", f"{self.samples}:/{dataset}")
            self.assertEqual((result["real"], result["imaginary"], result["type"]), (500500, -500500, dataset.split("_")[0]), dataset)
            self.assertEqual(result["memory_mapped"], "_" not in dataset)
        for dataset in ("c64", "c128"):
            other = f"{dataset}_compressed" if dataset == "c64" else f"{dataset}_big_endian"
            for form in ("dot", "norm2", "count"):
                mapped, pieces = (self.succeed_json(form, *[f"{self.samples}:/{one}"] * (2 if form == "dot" else 1), "--exact") for one in (dataset, other))
                for name in (name for name in mapped if name.endswith("bits")):
                    self.assertEqual(pieces[name], mapped[name])
        self.fail_with("records", "sum", f"{self.samples}:/imaginary_first")

    def test_standard_streams_may_be_closed(self):
        for closed in ("<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
            state = os.path.join(self.folder, "state")
            subprocess.run(["bash", "-c", f'"$0" "$@" {closed}', TOOL, "sum", f"{self.samples}:/compressed", "--begin", "0", "--state", state], timeout=60)
            self.assertEqual(self.succeed_json("merge", state)["count"], self.succeed_json("sum", f"{self.samples}:/compressed")["count"], closed)
            os.remove(state)

    def test_failures(self):
        self.fail_with("no dataset of this name", "sum", f"{self.samples}:/missing")
        self.fail_with("is no dataset", "sum", f"{self.samples}:/nested")
        self.fail_with("name the dataset", "sum", self.samples)
        self.fail_with("an enumeration of 1 bytes", "sum", f"{self.samples}:/days")
        self.fail_with("floats of 2 bytes", "sum", f"{self.samples}:/odd_float")
        self.fail_with("No such file", "sum", f"{self.folder}/missing.h5:/x")
        self.fail_with("file signature not found", "sum", self.write("x.h5", bytes(100)) + ":/x")
        os.truncate(self.samples, 3000)
        self.fail_with(self.samples, "sum", f"{self.samples}:/u64")

    def test_exact_results(self):
        self.assertEqual(self.succeed_json("sum", f"{self.samples}:/f16_compressed", "--exact", "--accumulate", "f64")["value"], 500500)
        self.fail_with("is what is reduced", "sum", f"{self.samples}:/f64", "--exact", "--state", self.samples)

    def test_other_files_are_read_when_that_is_asked_for_and_pipes_never(self):
        references = os.path.join(self.folder, "references.h5")
        for dataset in ("link", "storage"):
            self.fail_with("--follow-external", "sum", f"{references}:/{dataset}")
            self.assertEqual(self.succeed_json("sum", f"{references}:/{dataset}", "--follow-external")["value"], 500500)
        for dataset in ("link_to_pipe", "soft", "storage_in_pipe"):
            self.fail_with("--follow-external", "sum", f"{references}:/{dataset}")
            self.fail_with("no regular file", "sum", f"{references}:/{dataset}", "--follow-external")

    def test_the_tool_without_its_part_for_hdf5(self):
        module = os.path.join(os.path.dirname(TOOL), "onefold-hdf5.so")
        if not os.path.exists(module):
            self.skipTest("the tool is one with a static HDF5")
        alone = shutil.copy(TOOL, self.folder)
        arguments = [alone, "sum", f"{self.samples}:/f64"]
        done = subprocess.run(arguments, capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertRegex(done.stderr.decode(), r"\Aonefold: [^\n]*samples\.h5:/f64: [^\n]*part for HDF5 cannot be loaded \([^\n]*onefold-hdf5\.so[^\n]*\n\Z")
        shutil.copy(module, self.folder)
        done = subprocess.run(arguments, capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout, rb"(?m)^value +500500$")
        self.write("onefold-hdf5.so", b"")
        self.assertIn(b"cannot be loaded", subprocess.run(arguments, capture_output=True, timeout=120).stderr)


class LargeHdf5(ToolTest):
    """Datasets that are not held in memory."""

    @classmethod
    def setUpClass(cls):
        if HDF5_SAMPLES is None:
            raise unittest.SkipTest("built without HDF5")
        folder = tempfile.TemporaryDirectory(prefix="onefold-tool-large-")
        cls.addClassCleanup(folder.cleanup)
        subprocess.run([HDF5_SAMPLES, folder.name, "--large"], check=True, timeout=120)
        cls.large, cls.raw = os.path.join(folder.name, "large.h5"), os.path.join(folder.name, "scattered.bin")

    def test_they_are_reduced_in_pieces_to_the_bits_of_the_whole(self):
        large, raw = self.large, self.raw
        for backend in usable_backends():
            # Reading so much takes a second each time. Pieces meet on the host, in the same way for all backends and in every form (pieces_test.cpp has
            # all of them, in pieces of any size): here is one of each kind of result.
            every = backend == "serial"
            for form in ("sum", "dot"):
                with self.subTest(form=form, backend=backend):
                    second = {"dot": [f"{large}:/scattered"]}.get(form, [])
                    whole = self.succeed_json(form, raw, *[raw for _ in second], "--type", "f64", "--backend", backend)
                    pieces = self.succeed_json(form, f"{large}:/scattered", *second, "--backend", backend)
                    self.assertEqual((whole["in_pieces"], pieces["in_pieces"]), (False, True))
                    self.assertEqual(pieces["bits"], whole["bits"])
                    self.assertEqual(pieces["count"], whole["count"])
            records = (("argmin", ("bits", "index")), ("mean_variance", ("mean_bits", "variance_bits")),
                       ("argminmax", ("min_bits", "min_index", "max_bits", "max_index")), ("any", ("value",)))
            for form, keys in records if every else records[:1]:
                with self.subTest(form=form, backend=backend):
                    ddof = ["--ddof", "1"] if form == "mean_variance" else []
                    whole = self.succeed_json(form, raw, "--type", "f64", "--backend", backend, *ddof)
                    pieces = self.succeed_json(form, f"{large}:/scattered", "--backend", backend, *ddof)
                    self.assertTrue(pieces["in_pieces"])
                    self.assertEqual([pieces[key] for key in keys], [whole[key] for key in keys])
        result = self.succeed_json("dot", raw, f"{large}:/scattered", "--type", "f64", "--backend", "serial", "--repeat", "2")
        self.assertEqual((result["runs"], result["distinct_values"], result["second"]["in_pieces"]), (2, 1, True))
        self.assertEqual(result["bits"], self.succeed_json("dot", raw, raw, "--type", "f64", "--backend", "serial")["bits"])
        self.assertIn("read in pieces", self.succeed("max", f"{large}:/scattered"))
        states = [os.path.join(self.folder, name) for name in ("whole.state", "pieces.state")]
        for data, state in zip(([raw, "--type", "f64"], [f"{large}:/scattered"]), states):  # pieces whose tiles are cut
            result = self.succeed_json("sum", *data, "--begin", "100", "--state", state)
        self.assertTrue(result["in_pieces"])
        with open(states[0], "rb") as first, open(states[1], "rb") as other:
            self.assertEqual(first.read(), other.read())

    def test_exact_results_of_pieces(self):
        large, raw = self.large, self.raw
        states = [os.path.join(self.folder, name) for name in ("whole.npy", "pieces.npy")]
        for form in ("sum", "dot", "mean_variance", "max"):
            with self.subTest(form=form):
                second = {"dot": [f"{large}:/scattered"]}.get(form, [])
                save = [[] if form == "max" else ["--state", state] for state in states]
                whole = self.succeed_json(form, raw, *[raw for _ in second], "--type", "f64", "--exact", *save[0])
                pieces = self.succeed_json(form, f"{large}:/scattered", *second, "--exact", *save[1])
                self.assertEqual((whole["in_pieces"], pieces["in_pieces"], pieces["guarantee"]), (False, True, "exact"))
                names = [name for name in whole if name.endswith("bits") or name.endswith("ulps")]
                self.assertGreaterEqual(len(names), 3)
                self.assertEqual([pieces[name] for name in names], [whole[name] for name in names])
                if form != "max":
                    with open(states[0], "rb") as first, open(states[1], "rb") as other:
                        self.assertEqual(first.read(), other.read())

    def test_exact_results_of_pieces_of_complex_numbers(self):
        pairs = os.path.getsize(self.raw) // 16
        shifted = os.path.join(self.folder, "shifted.npy")
        with open(self.raw, "rb") as raw, open(shifted, "wb") as out:  # not aligned, and too many bytes to be copied as a whole
            out.write(npy("<c16", f"({pairs},)", b"", shift=1))
            shutil.copyfileobj(raw, out)
            out.truncate(out.tell() - os.path.getsize(self.raw) % 16)
        whole = shutil.copy(self.raw, self.folder)
        os.truncate(whole, 16 * pairs)
        states = [os.path.join(self.folder, name) for name in ("0.npy", "1.npy")]
        for form in ("sum", "dot"):
            of_whole, of_pieces = ([x, x] if form == "dot" else [x] for x in (whole, shifted))
            results = [self.succeed_json(form, *of_whole, "--type", "c128", "--exact", "--state", states[0]), self.succeed_json(form, *of_pieces, "--exact", "--state", states[1])]
            self.assertEqual([result["in_pieces"] for result in results], [False, True])
            names = [name for name in results[0] if name.endswith("bits")]
            self.assertEqual(len(names), 4)
            self.assertEqual([results[1][name] for name in names], [results[0][name] for name in names])
            with open(states[0], "rb") as first, open(states[1], "rb") as other:
                self.assertEqual(first.read(), other.read())

    def test_three_gigabytes_that_are_nowhere_stored_take_little_memory(self):
        for form, expected in (("sum", {"bits": bits("f32", 1125045000.0)}), ("minmax", {"min": 1.5, "max": 1.5})):
            with subprocess.Popen([TOOL, form, f"{self.large}:/unwritten", "--json", "--backend", "serial"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
                out = tool.stdout.read()
                _, status, usage = os.wait4(tool.pid, 0)
                tool.returncode = status
            self.assertEqual(status, 0)
            result = json.loads(out)
            self.assertEqual({key: result[key] for key in expected}, expected)
            self.assertLess(usage.ru_maxrss, 512 * 1024, "KiB")


class Lists(ToolTest):
    def test_variants_text_and_json_agree(self):
        listed = json.loads(self.succeed("variants", "--json"))
        names = [(variant["name"], variant["backend"]) for variant in listed]
        for known in (("parallel_reduce", "serial"), ("fixed_order", "serial"), ("fixed_order", "cuda"), ("vector_load", "cuda")):
            self.assertEqual(names.count(known), 1, known)
        text = self.succeed("variants")
        for variant in listed:
            self.assertEqual(variant["usable"], variant["obstacle"] is None)
            self.assertEqual(variant["guarantee"], {"fixed_order": "fixed", "superaccumulator": "exact"}.get(variant["name"], "none"))
            here = "yes" if variant["usable"] else "no"
            place = "cpu" if variant["backend"] == "serial" else "cuda"
            start = f"{variant['name']} +{place} "
            self.assertRegex(text, rf"(?m)^{start}.* {variant['guarantee']} +{here} .*{re.escape(variant['idea'])}$")
            if variant["built"]:
                every, exact = variant["name"] == "fixed_order", variant["guarantee"] == "exact"
                if exact:
                    expected = {element: set(EXACT) for element in FLOATS}
                    expected |= {element: {"norm2", "mean", "mean_variance"} for element in (*TYPES, *SMALL) if element not in FLOATS}
                    self.assertEqual({element: set(forms) for element, forms in variant["supported"].items()}, expected)
                    self.assertRegex(text, rf"(?m)^{start}.* {' '.join(FLOATS)} +exact sums +{re.escape(variant['idea'])}$")
                    continue
                self.assertEqual(variant["accumulates_f32_in_f64"], every)
                for element, forms in variant["supported"].items():
                    all_forms = [form for form in FORMS + RECORDS if form not in BITS or element not in FLOATS]
                    self.assertEqual(forms == all_forms, every)
                    self.assertTrue(every or element in TYPES, element)
                    self.assertLessEqual(set(forms), set(all_forms if every else FORMS[:4]))
                self.assertRegex(text, rf"(?m)^{start}.* {'every form' if every else 'sum prod min max'} +{re.escape(variant['idea'])}$")
        self.assertEqual("What prevents it here" in text, not all(variant["usable"] for variant in listed))

    def test_variants_of_one_backend(self):
        names = {}
        for backend in ("serial", "openmp", "cuda"):
            names[backend] = [v["name"] for v in json.loads(self.succeed("variants", "--backend", backend, "--json"))]
            self.assertTrue(names[backend])
        self.assertEqual(names["serial"], names["openmp"])
        self.assertEqual(set(names["serial"]) & set(names["cuda"]), {"fixed_order", "superaccumulator"})

    def test_markdown_holds_the_catalogue_and_nothing_of_this_machine(self):
        listed = json.loads(self.succeed("variants", "--json"))
        escaped = [(v["name"], v["seed"].replace("|", r"\|"), v["idea"].replace("|", r"\|")) for v in listed]
        expected = ["| variant | seed | idea |", "| --- | --- | --- |"] + [f"| `{name}` | {seed} | {idea} |" for name, seed, idea in escaped]
        self.assertEqual(self.succeed("variants", "--markdown").splitlines(), expected)

    def test_info(self):
        info = json.loads(self.succeed("info", "--json"))
        self.assertEqual(self.succeed("--version").strip(), f"onefold {info['version']}")
        self.assertEqual([backend["name"] for backend in info["backends"]], ["serial", "openmp", "cuda"])
        text = self.succeed("info")
        self.assertIn(info["version"], text)
        for backend in info["backends"]:
            self.assertIn(backend["detail"], text)
            for device in backend["devices"]:
                self.assertIn(device["name"], text)

    def test_help_shows_the_main_uses(self):
        text = self.succeed("--help")
        for word in (*FORMS, *RECORDS[:-1], "merge", "--exact", "--state", "--begin", "variants", "bf16", "info", "check", "x.npy", "--type", "--backend cuda", "--json", "Exit status"):
            self.assertIn(word, text)
        for form in FORMS:
            text = self.succeed(form, "--help")
            for option in ("--backend", "--device", "--variant", "--finish", "--block-size", "--grid-size", "--width", "--threads", "--json",
                           "--repeat", "--type", "median", "--guarantee", "--exact", "--state", "--begin"):
                self.assertIn(option, text)
            self.assertEqual("--accumulate" in text, form not in ("min", "max", "norm_inf", "min_number", "max_number", *BITS, "count", *TRUTHS))

    def test_a_file_may_have_the_name_of_a_command(self):
        with open(os.path.join(self.folder, "max"), "wb") as file:
            file.write(pack("f32", [1.0, 2.0]))
        done = run("sum", "max", "--type", "f32", "--json", cwd=self.folder)
        self.assertEqual(json.loads(done.stdout)["value"], 3)


def main():
    global TOOL, HDF5_SAMPLES
    arguments = sys.argv[1:]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    TOOL = os.path.abspath(arguments.pop(0))
    if arguments[:1] == ["--hdf5-samples"]:
        HDF5_SAMPLES = os.path.abspath(arguments[1])
        arguments = arguments[2:]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    print("usable backends:", ", ".join(usable_backends()))
    unittest.main(argv=[sys.argv[0], *arguments])


if __name__ == "__main__":
    main()
