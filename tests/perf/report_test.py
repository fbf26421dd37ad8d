#!/usr/bin/env python3
"""The report of onefold-perf: what its page, its summary and its pictures say, and that no label in a chart lies on anything.

usage: report_test.py [unittest arguments]

Needs matplotlib; without it every test is skipped. The records of perf/results are read as they are; all others are made up here.
"""

import copy
import html.parser
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, "perf", "report")
RESULTS = os.path.join(ROOT, "perf", "results")
sys.path.insert(0, SCRIPTS)

try:
    import matplotlib  # noqa: F401

    import charts
    import colours
    import figures
    import page
    import picture
    import quantities
    import records
    import sections
    from comparison import comparison
    from quantities import THIN_SPACE
except ImportError:
    matplotlib = None


SYSTEM_PYTHON = "/usr/bin/python3"  # one ahead of it on the PATH may be without matplotlib


def setUpModule():
    if matplotlib is None:
        raise unittest.SkipTest("there is no matplotlib for " + sys.executable)


# --- records, made up ---


def times(median_s, **more):
    return {"median_s": median_s, "spread": 0.003, "min_s": median_s * 0.99, "max_s": median_s * 1.02, "count": 30, **more}


def made_up(study, gpu="A made-up GPU", **more):
    record = {
        "onefold": "0.0.0",
        "commit": "made up",
        "command": ["onefold-perf", study, "--json", ""],
        "time": "2000-01-01T00:00:00Z",
        "system": "made up",
        "cpu": "A made-up CPU",
        "compiler": "1.2.3",
        "backends": {"cuda": "made up"},
        "study": study,
        "type": "f32",
        "op": "sum",
    }
    if gpu is not None:
        record["gpu"] = {
            "name": gpu,
            "compute_capability": "9.0",
            "multiprocessors": 100,
            "memory_bytes": 80 << 30,
            "l2_bytes": 50 << 20,
            "driver": "x 1.2",
        }
    return {**record, **more}


NAMES = [
    "atomic_global",
    "atomic_shared",
    "shared_interleaved",
    "shared_sequential",
    "warp_shuffle",
    "grid_stride",
    "fixed_order",
    "cub",
]


def ladder(seconds=None, gpu="A made-up GPU", limit=1.0e-5):
    seconds = seconds or {name: 1.25e-5 * 3 ** (len(NAMES) - 2 - place) for place, name in enumerate(NAMES[:-1])} | {"cub": 1.5e-5}
    rows = [{"variant": name, "cold": times(time), "hot": times(time * 0.9), "clock": "events"} for name, time in seconds.items()]
    return made_up(
        "ladder", gpu, count=1 << 22, bytes=1 << 24, read_limit={"cold": times(limit), "hot": times(limit * 0.9)}, rows=rows
    )


def sweep(type_name="f32", gpu="A made-up GPU", bandwidth=2e12, start=2e-6, share=0.9, counts=range(10, 31), cub=1.25):
    """A read takes `start` and its bytes at `bandwidth`; onefold that over `share`, CUB `cub` times as long."""
    size = 4 if type_name == "f32" else 8
    rows = []
    for power in counts:
        read = start + size * 2**power / bandwidth
        variants = {"fixed_order": read / share, "cub": cub * read / share}
        both = lambda time: {"cold": times(time), "hot": times(time * 0.8)}
        rows.append(
            {
                "count": 2**power,
                "bytes": size * 2**power,
                "read_limit": both(read),
                "variants": {name: both(time) for name, time in variants.items()},
            }
        )
    return made_up("sweep", gpu, type=type_name, rows=rows)


def latency(gpu="A made-up GPU", bare=6e-6):
    rows = []
    for power in range(0, 17, 2):
        row = {
            "count": 2**power,
            "in_stream": times(1e-6),
            "to_host": times(bare + 1e-6),
            "bare_kernel": times(bare),
            "enqueue_20": times(6e-5),
        }
        rows.append({**row, "cub": {"in_stream": times(2e-6), "to_host": times(bare + 4e-6)}})
    return made_up("latency", gpu, rows=rows)


def peers():
    rows = []
    for where, threads, form in (("gpu", 0, "sum"), ("gpu", 0, "dot"), ("cpu", 1, "sum"), ("cpu", 16, "sum")):
        names = (
            ["cub", "cub not_guaranteed", "thrust", "cublas", "Kokkos CUDA"]
            if where == "gpu"
            else ["std::reduce", "omp simd", "OpenBLAS", "Eigen", "Kokkos"]
        )
        for power in range(10, 29):
            ours = 1e-6 + 2**power * 1e-12
            others = {name: times(ours * (1.1 + 0.3 * place)) for place, name in enumerate(names)}
            rows.append(
                {
                    "where": where,
                    "threads": threads,
                    "form": form,
                    "type": "f32",
                    "count": 2**power,
                    "bytes": 4 * 2**power,
                    "onefold": times(ours),
                    "peers": others,
                }
            )
    rows[7]["peers"]["thrust"] = times(rows[7]["onefold"]["median_s"] / 1.5, noisy=True)
    return made_up("peers", rows=rows, missing=[{"peer": "oneDPL", "why": "it was not found"}], worst=[])


def scaling():
    rows = []
    for threads in (1, 2, 4, 8, 16):
        ours = 1e-2 / threads**0.9
        others = {"omp simd": times(ours * 0.98), "Kokkos": times(ours * 2)}
        rows.append(
            {
                "threads": threads,
                "form": "sum",
                "type": "f64",
                "count": 1 << 24,
                "bytes": 1 << 27,
                "read_limit": times(ours * 0.95),
                "onefold": times(ours),
                "peers": others,
            }
        )
    return made_up("scaling", None, rows=rows)


def memory():
    banks = [
        {"case": f"4 bytes: stride {stride}", "time": times(1e-5 * math.gcd(stride, 32)), "bytes": 1 << 22, "values": []}
        for stride in range(1, 34)
    ]
    transfers = []
    for kind, rate in (("pageable", 5e9), ("pinned", 2e10)):
        for power in range(10, 31, 2):
            transfers.append(
                {
                    "case": f"{quantities.binary_bytes(2**power)} to the device, {kind}".replace(THIN_SPACE, " "),
                    "time": times(1e-5 + 2**power / rate),
                    "bytes": 2**power,
                    "values": [],
                }
            )
    transfers += [
        {"case": f"64 MiB in {pieces} pieces", "time": times(1e-2 * pieces), "bytes": 1 << 26, "values": []} for pieces in (1, 64)
    ]
    occupancy = [
        {
            "case": f"{block} threads",
            "time": times(1e-4),
            "bytes": 1 << 26,
            "values": [{"name": "achieved", "number": block / 10.24, "unit": "%"}],
        }
        for block in (32, 256, 1024)
    ]
    rounding = [
        {"case": "(a + b) + c", "values": [{"name": "result", "number": 0.1, "unit": ""}]},
        {"case": "a + (b + c)", "values": [{"name": "result", "number": 0, "unit": ""}]},
    ]
    studies = [("banks", banks), ("transfers", transfers), ("occupancy", occupancy), ("associativity", rounding)]
    listed = [
        {
            "name": name,
            "title": f"What of {name}?",
            "lecture": "It says so.",
            "lesson": "It holds.",
            "on": {"gpu": rows, "cpu": rows[:2]},
        }
        for name, rows in studies
    ]
    return made_up("memory", studies=listed)


def tune():
    rows = [
        {"form": "sum", "type": "f32", "count": 2**power, "built_in": times(1e-12 * 2**power), "tuned": times(ratio * 1e-12 * 2**power)}
        for power, ratio in ((12, 1.02), (20, 0.9), (28, 1.0))
    ]
    search = [
        {"variant": "fixed_order", "choice": "stream_warps", "value": 8, "relative_time": 1.0, "built_in": True, "chosen": False},
        {"variant": "fixed_order", "choice": "stream_warps", "value": 16, "relative_time": 0.95, "built_in": False, "chosen": True},
        {"variant": "dual_load", "choice": "block_size", "value": 512, "relative_time": 1.0, "built_in": True, "chosen": True},
        {"variant": "dual_load", "choice": "block_size", "value": 64, "relative_time": 1.5, "built_in": False, "chosen": False},
    ]
    return made_up("tune", rows=rows, search=search)


def forms():
    rows = [
        {"form": form, "inputs": 1, "wide": False, "aligned": times(1e-4), "cut": times(1.01e-4), "one_off": times(1.05e-4)}
        for form in ("sum", "norm2")
    ]
    rows.append(
        {
            "form": "dot",
            "inputs": 2,
            "wide": True,
            "aligned": times(2e-4),
            "cut": times(2e-4),
            "one_off": times(2e-4),
            "apart": times(2.1e-4),
        }
    )
    return made_up("forms", count=1 << 28, bytes=1 << 30, read_limit=9.5e-5, rows=rows)


def cpu():
    rows = []
    for threads in (1, 16):
        for power in range(10, 28):
            best = 4 * 2**power / (2e10 * threads)
            named = {"onefold": times(best / 0.9), "32 B x 8": times(best), "Kokkos": times(best * 3), "std": times(best * 5)}
            rows.append(
                {"count": 2**power, "bytes": 4 * 2**power, "threads": threads, "best": "32 B x 8", "times": named, "ratio": {}}
            )
    return made_up("cpu", None, form="sum", offset=0, rows=rows)


def folds():
    rows = []
    for threads in (1, 16):
        for place, case in enumerate(("argmin", "argmax", "minmax", "mean_variance", "together", "lambda", "three_arrays", "filter", "box",
                                      "own_operator")):
            for power in (12, 14, 20, 26):
                best = 4 * 2**power / (2e10 * threads)
                ours = best * (1 + place / 10)
                row = {"case": case, "type": "f32", "count": 2**power, "bytes": 4 * 2**power, "threads": threads, "best": "omp simd"}
                row |= {"onefold": times(ours), "by_hand": {"omp simd": times(best), "another": times(best * 2)}}
                row |= {"built_in": times(ours / 1.25)} if case == "lambda" else {}
                row |= {"read_limit": times(ours * 0.8)} if power == 26 else {}
                rows.append(row)
    return made_up("folds", None, instruction_set="avx2", rows=rows)


def fused():
    rows = [
        {
            "type": type_name,
            "count": count,
            "bytes": count * size,
            "read_limit": count * size / 4e12,
            "calls": {
                "sum": {**times(count * size / 4e12 / 0.99), "bytes": count * size},
                "argmin by CUB": {**times(count * size / 4e12 / 0.5), "bytes": count * size},
                "f(i) over three arrays": {**times(3 * count * size / 4e12 / 0.9), "bytes": 3 * count * size},
            },
        }
        for count in (1 << 20, 1 << 28)
        for type_name, size in (("f32", 4), ("f64", 8))
    ]
    return made_up("fused", rows=rows)


def exact():
    rows = []
    for type_name, size in (("f32", 4), ("f64", 8)):
        for count in (1 << 10, 1 << 28):
            read = 1e-6 + count * size / 4e12
            forms = {
                form: {"exact": times(vectors * read / (0.9 if form == "sum" else 0.8) + 5e-6 * (count == 1 << 10)), "fixed": times(vectors * read)}
                for form, vectors in (("sum", 1), ("dot", 2))
            }
            rows.append({"contents": "between -1 and 1", "type": type_name, "count": count, "read_limit": times(read), "forms": forms})
    return made_up("exact", rows=rows)


def host():
    rows = [
        {
            "memory": memory,
            "bytes": size,
            "times": {"copy": times(size / rate), "sum": times(size / rate / 0.96), "dot": times(size / rate / 0.9), "exact": times(size / rate / 0.5)}
            | ({"in place": times(size / rate / 0.8)} if memory == "pinned" else {}),
        }
        for memory, rate in (("pinned", 5e10), ("pageable", 1e10))
        for size in (1 << 20, 1 << 33)
    ]
    return made_up("host", rows=rows)


def ranges():
    rows = [{"form": form, "count": 1 << 20, "reduction": times(1e-5), "states": {"aligned": times(1.1e-5), "anywhere": times(2e-5)}}
            for form in ("sum", "argmax")]
    rows[1]["type"] = "i8"
    return made_up("ranges", rows=rows)


def devices():
    rows = [{"count": 1 << power, "one": times(one), "all": times(several)} for power, one, several in ((20, 1e-5, 2e-5), (28, 2.4e-4, 2.5e-4))]
    return made_up("devices", rows=rows)


def calls(**more):
    rows = [
        {"case": "one call", "form": form, "type": "f64", "count": count, "driver": driver, "onefold": times(4e-8 + driver * 1e-8),
         "loop": times(5e-9)}
        for driver in (False, True)
        for form in ("sum", "dot")
        for count in (16, 1024)
    ]
    rows += [
        {"case": "at once", "form": "sum", "type": "f64", "count": 1024, "threads": threads, "onefold": times(8e-8 / threads**0.95),
         "loop": times(4e-8 / threads)}
        for threads in (1, 2, 16)
    ]
    return made_up("calls", None, rows=rows, **more)


def cpu_ladder():
    rows = [
        {"name": name, "threads": 1, "time": times(time)}
        for name, time in (("plain loop", 4e-3), ("std::reduce", 2e-3), ("serial", 1e-3), ("openmp(16)", 2e-4))
    ]
    limit = {"threads": 16, "all": times(1.9e-4), "one": times(9e-4)}
    return made_up("cpu_ladder", None, count=1 << 22, bytes=1 << 24, read_limit=limit, rows=rows)


def everything():
    return [ladder(), sweep(), sweep("f64"), latency(), peers(), scaling(), memory(), tune(), forms(), fused(), exact(), host(), ranges(), devices(), cpu(), folds(), calls(), cpu_ladder()]


def wrapped(bodies):
    return [records.Record(f"made-up/{place}.json", copy.deepcopy(body)) for place, body in enumerate(bodies)]


def report_of(*bodies):
    return page.Report(*records.machines(wrapped(bodies)))


def machine_of(*bodies):
    found, _ = records.machines(wrapped(bodies))
    assert len(found) == 1, [one.name for one in found]
    return found[0]


def all_sections(report):
    waiting = [one for found in report.sections.values() for one in found] + ([report.comparison] if report.comparison else [])
    while waiting:
        section = waiting.pop(0)
        yield section
        waiting += section.parts


def real_folders():
    for folder in sorted(one for one in os.listdir(RESULTS) if os.path.isdir(os.path.join(RESULTS, one))):
        paths = [
            os.path.join(RESULTS, folder, name) for name in sorted(os.listdir(os.path.join(RESULTS, folder))) if name.endswith(".json")
        ]
        if paths:
            yield folder, paths


class Quantities(unittest.TestCase):
    def test_three_significant_digits_and_never_an_exponent_where_digits_do(self):
        for value, words in (
            (1234567, "1,230,000"),
            (1250, "1,250"),
            (1247.4, "1,250"),
            (999.6, "1,000"),
            (603.2, "603"),
            (55.49, "55.5"),
            (2.2769, "2.28"),
            (1, "1.00"),
            (0.16961, "0.170"),
            (0.0009996, "0.00100"),
            (-3.14159, "-3.14"),
            (0, "0"),
            (3.21e-7, "3.21 · 10⁻⁷"),
            (1.5e15, "1.50 · 10¹⁵"),
        ):
            self.assertEqual(quantities.three(value), words)
        for value in (None, math.nan, math.inf, True, "7"):
            self.assertEqual(quantities.three(value), quantities.NOT_MEASURED)

    def test_units(self):
        for said, words in (
            (quantities.seconds(1.2e-6), "1.20 µs"),
            (quantities.seconds(9.998e-7), "1.00 µs"),
            (quantities.seconds(0.2957), "296 ms"),
            (quantities.seconds(5e-11), "0.0500 ns"),
            (quantities.rate(4.5834e12), "4.58 TB/s"),
            (quantities.rate(603e9), "603 GB/s"),
            (quantities.percent(0.9953), "99.5 %"),
            (quantities.spread(0.0023), "±0.23 %"),
            (quantities.spread(0.31), "±31 %"),
            (quantities.binary_bytes(62914560), "60 MiB"),
            (quantities.binary_bytes(512), "512 B"),
            (quantities.span("7.27 µs".replace(" ", THIN_SPACE), "7.94 µs".replace(" ", THIN_SPACE)), "7.27 to 7.94 µs"),
        ):
            self.assertEqual(said.replace(THIN_SPACE, " "), words)
        self.assertEqual(quantities.elements(1 << 28), "2²⁸")
        self.assertEqual(quantities.elements(12582912), "12,582,912")
        self.assertEqual(quantities.elements(512), "512")


class Colours(unittest.TestCase):
    # Machado, Oliveira and Fernandes 2009, severity 1.
    BLINDNESS = {
        "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
        "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
        "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
    }

    @staticmethod
    def linear(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]

    @classmethod
    def luminance(cls, colour):
        red, green, blue = cls.linear(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    @classmethod
    def contrast(cls, one, other):
        low, high = sorted((cls.luminance(one), cls.luminance(other)))
        return (high + 0.05) / (low + 0.05)

    @classmethod
    def lab(cls, colour, blindness):
        linear = cls.linear(colour)
        seen = (
            [min(1, max(0, sum(factor * part for factor, part in zip(row, linear)))) for row in cls.BLINDNESS[blindness]]
            if blindness
            else linear
        )
        x = (0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.9505
        y = 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]
        z = (0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.089
        root = lambda value: value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
        return 116 * root(y) - 16, 500 * (root(x) - root(y)), 200 * (root(y) - root(z))

    def test_contrast_with_the_paper(self):
        for theme in (colours.LIGHT, colours.DARK):
            for role, colour in theme.items():
                if role not in ("paper", "grid"):
                    least = 4.5 if role in ("ink", "muted", "onefold") else 3.0
                    self.assertGreaterEqual(self.contrast(colour, theme["paper"]), least, (role, colour))

    def test_the_three_kinds_are_told_apart_by_colour_blind_readers(self):
        kinds = ("onefold", "peer", "lecture")
        for theme in (colours.LIGHT, colours.DARK):
            for blindness in (None, "protanopia", "deuteranopia", "tritanopia"):
                for place, one in enumerate(kinds):
                    for other in kinds[:place]:
                        distance = math.dist(self.lab(theme[one], blindness), self.lab(theme[other], blindness))
                        self.assertGreater(distance, 15, (one, other, blindness))

    def test_colour_is_not_the_only_sign(self):
        marks = [charts.STYLES[role][0] for role in charts.STYLES]
        self.assertEqual(len(marks), len(set(marks)))
        many = charts.roles_of([f"peer {place}" for place in range(10)])
        self.assertEqual(len(set(many.values())), 10)

    def test_both_themes_have_every_role_and_no_stand_in_is_a_colour_of_either(self):
        self.assertEqual(set(colours.LIGHT), set(colours.DARK))
        stand_ins = list(colours.STAND_INS.values())
        self.assertEqual(len(stand_ins), len(set(stand_ins)))
        self.assertFalse(set(stand_ins) & {*colours.LIGHT.values(), *colours.DARK.values()})


class Labels(unittest.TestCase):
    """Labels overlap nothing, whatever the records hold."""

    def check(self, report, about):
        drawn = 0
        for section in all_sections(report):
            for one in section.pictures:
                self.assertEqual(charts.faults(one.figure), [], (about, one.name))
                drawn += 1
        return drawn

    def test_faults_are_found(self):
        figure = charts.bars([charts.Bar("a", 1.0), charts.Bar("b", 2.0)])
        self.assertEqual(charts.faults(figure), [])
        figure.text(0.5, 0.5, "in the axes")
        figure.text(0.99, 0.99, "over the edge")
        figure.text(0.1, 0.98, "one on")
        figure.text(0.1, 0.98, "another")
        found = "; ".join(charts.faults(figure))
        for words in ("'in the axes' lies in the axes", "'over the edge' leaves the figure", "'another' lies on 'one on'"):
            self.assertIn(words, found)

    def test_all_studies(self):
        self.assertGreaterEqual(self.check(report_of(*everything()), "everything"), 20)

    def test_the_records_in_the_repository(self):
        drawn = 0
        for folder, paths in real_folders():
            drawn += self.check(page.Report(*records.machines([record for path in paths for record in records.load(path)])), folder)
        self.assertGreater(drawn, 50)

    def test_two_machines(self):
        other = "Another made-up GPU with a name that is rather long for a legend or a table"
        self.check(report_of(*everything(), sweep(gpu=other), sweep("f64", gpu=other), ladder(gpu=other), latency(gpu=other)), "two")

    def test_one_row(self):
        report = report_of(
            ladder({"fixed_order": 1e-5}),
            sweep(counts=[20]),
            *[{**body, "rows": body["rows"][:1]} for body in (latency(), peers(), scaling(), forms(), fused(), exact(), host(), ranges(), devices(), cpu(), folds(), calls())],
        )
        self.assertGreaterEqual(self.check(report, "one row"), 7)

    def test_forty_rows(self):
        report = report_of(
            ladder({f"variant_with_a_name_of_some_length_{place}": 1e-6 * 1.3**place for place in range(40)}),
            sweep(counts=range(0, 40)),
        )
        self.assertEqual(self.check(report, "forty rows"), 4)

    def test_equal_values(self):
        report = report_of(ladder({name: 1e-5 for name in NAMES}), sweep(bandwidth=1e30, cub=1.0, share=1.0))
        self.assertEqual(self.check(report, "equal values"), 4)

    def test_huge_ranges(self):
        report = report_of(
            ladder({"fixed_order": 1e-9, "serial_gpu": 1e9, "cub": 1.0}),
            sweep(bandwidth=1e3, start=1e-12),
            sweep("f64", bandwidth=1e18, cub=1e9),
        )
        self.assertEqual(self.check(report, "huge ranges"), 7)

    def test_sizes_that_are_no_powers_of_two(self):
        body = sweep()
        for place, row in enumerate(body["rows"]):
            row["count"] = 3_000_017 + 1_234_567 * place
        self.assertEqual(self.check(report_of(body), "odd sizes"), 3)

    def test_long_and_odd_names(self):
        name = '<b>a $very$ \\long & "odd"</b> name ' * 5
        report = report_of(
            ladder({name: 1e-5, "fixed_order": 1e-6, "": 1e-6, "\n": 1e-6}),
            {**peers(), "rows": [{**row, "peers": {name: row["onefold"]}} for row in peers()["rows"]]},
        )
        self.assertGreaterEqual(self.check(report, "odd names"), 5)

    def test_the_pictures_that_stand_alone(self):
        found = figures.ladder(machine_of(ladder()).of("ladder")[0])
        self.assertEqual(charts.faults(sections.ladder_figure(found, "A title of some length " * 5, colours.LIGHT, 600)), [])


class Sentences(unittest.TestCase):
    def test_the_answer_comes_first_and_is_computed(self):
        machine = machine_of(sweep(bandwidth=4e12, share=0.8, cub=2.0), latency())
        words = sections.lede(machine).replace(THIN_SPACE, " ")
        read = 2e-6 + 4 * 2**30 / 4e12
        self.assertIn(f"sums floats at {4 * 2**30 / (read / 0.8) * 1e-12:.2f} TB/s", words)
        self.assertIn("80.0 % of the speed of a bare read", words)
        self.assertIn("is on the host after 7.00 µs", words)
        figures_shown = [figure.replace(THIN_SPACE, " ") for figure, _ in sections.tiles(machine)]
        self.assertIn("2.00 ×", figures_shown)

    def test_what_rewriting_gains(self):
        body = ladder({"atomic_global": 1e-2, "warp_shuffle": 4e-5, "cub": 3e-5, "fixed_order": 2e-5}, limit=1.6e-5)
        sentences, table = sections.rewriting(figures.ladder(wrapped([body])[0]))
        words = " ".join(sentences).replace(THIN_SPACE, " ")
        self.assertIn("takes 10.0 ms for 2²² floats; onefold takes 20.0 µs, 500 times as fast", words)
        self.assertIn("a tree in shared memory, 40.0 µs, the gain is a factor of 2.00", words)
        self.assertIn("CUB (30.0 µs) is at 1.50 times", words)
        self.assertIn("a factor of 1.25 beyond onefold", words)
        self.assertEqual([row[2] for row in table.rows], ["500", "2.00", "1.50"])

    def test_a_limit_that_is_none_is_not_used(self):
        body = ladder({"fixed_order": 1e-6, "warp_shuffle": 2e-6}, limit=1e-4)
        body["warnings"] = ["warning: the read limit is none"]
        report = report_of(body)
        words = page.html(report)
        self.assertNotIn("bare read,", words)
        self.assertIn("the read limit is none", words)

    def test_the_worst_point_is_named(self):
        words = " ".join(sections.ratio_section(machine_of(peers())).paragraphs)
        self.assertRegex(words, r"On the GPU the worst of \d+ points is sum of 2¹⁷ floats on the GPU, at 1\.50 times the time of Thrust\. A peer is ahead at 1 of them")
        self.assertRegex(words, r"On the CPU the worst of \d+ points is [^.]*, at 0\.\d+ times the time of [^.]*, so no peer is ahead at any of them\.")
        self.assertIn("oneDPL (it was not found)", words)

    def test_reductions_beside_loops_by_hand(self):
        words = " ".join(sections.folds_section(machine_of(folds())).paragraphs).replace(THIN_SPACE, " ")
        self.assertIn("With 1 thread, in the caches, onefold has 0.526 to 1.00 times the speed of the best loop by hand", words)
        self.assertIn("the least for own_operator of 2¹² floats.", words)
        self.assertIn("With 16 threads, from memory, it has 80.0 % of the speed of a bare read", words)
        self.assertIn("With 16 threads a function of the caller's takes 1.25 times as long as what the library has built in.", words)
        table = sections.folds_section(machine_of(folds())).tables[0]
        self.assertEqual(len(table.rows), 40)
        self.assertEqual({row[6] for row in table.rows}, {"omp simd"})  # the faster one of the loops

    def test_fused_calls_beside_a_read_of_as_many_bytes(self):
        section = sections.fused_section(machine_of(fused()))
        words = " ".join(section.paragraphs).replace(THIN_SPACE, " ")
        self.assertIn("At 2²⁸ elements the calls have 90.0 to 99.0 % of the speed of a bare read of as many bytes, the least for f(i) over three "
                      "arrays of ", words)
        self.assertEqual([table.brief for table in section.tables], [True, False])
        self.assertEqual([cell.replace(THIN_SPACE, " ") for cell in section.tables[0].rows[0]], ["argmin by CUB", "537", "50.0 %", "1,070", "50.0 %"])

    def test_exact_sums_beside_a_read_and_the_default(self):
        section = sections.exact_section(machine_of(exact()))
        words = " ".join(section.paragraphs).replace(THIN_SPACE, " ")
        self.assertIn("At 2²⁸ elements exact sums have 80.0 to 90.0 % of the speed of a bare read: the most for sum of ", words)
        self.assertIn("the least for dot of ", words)
        self.assertRegex(words, r"At 2¹⁰ elements an exact sum takes 5\.1\d to 5\.5\d µs longer than the default\.")
        row = [cell.replace(THIN_SPACE, " ") for cell in section.tables[0].rows[1]]
        self.assertEqual(row, ["between -1 and 1", "f32", "2²⁸", "299", "90.0 %", "1.11", "674", "80.0 %", "1.25"])

    def test_arrays_in_host_memory_beside_a_copy(self):
        section = sections.host_section(machine_of(host()))
        words = [one.replace(THIN_SPACE, " ") for one in section.paragraphs]
        self.assertEqual(words, [f"A sum of 8 GiB of {memory} memory runs at 96.0 % of the speed of a copy to the GPU alone." for memory in
                                 ("pinned", "pageable")])
        rows = [[cell.replace(THIN_SPACE, " ") for cell in row] for row in section.tables[0].rows]
        self.assertEqual(rows[1], ["pinned", "8 GiB", "50.0", "96.0 %", "90.0 %", "50.0 %", "80.0 %"])
        self.assertEqual(rows[2][-1], "–")

    def test_states_of_ranges_beside_a_reduction(self):
        table = sections.ranges_section(machine_of(ranges())).tables[0]
        self.assertEqual([[cell.replace(THIN_SPACE, " ") for cell in row] for row in table.rows][1], ["argmax of i8", "2²⁰", "10.0", "1.10", "2.00"])
        self.assertEqual(table.rows[0][0], "sum of f32")  # records from before there were others have no type

    def test_several_gpus_beside_one(self):
        table = sections.devices_section(machine_of(devices())).tables[0]
        self.assertEqual([[cell.replace(THIN_SPACE, " ") for cell in row] for row in table.rows][1][1:], ["240", "250", "10.0", "0.960"])

    def test_a_batch_beside_one_call(self):
        rows = [{"reductions": many, "batch": times(batch), "alone": times(alone)} for many, batch, alone in ((1, 8e-6, 8e-6), (64, 24e-6, 512e-6))]
        body = latency() | {"batch": {"count": 10000, "rows": rows}}
        table = next(table for table in sections.latency_section(machine_of(body)).tables if "batch" in table.title)
        self.assertEqual(table.rows, [["1", "8.00", "8.00", "1.00"], ["64", "24.0", "512", "3.00"]])
        self.assertFalse([table for table in sections.latency_section(machine_of(latency())).tables if "batch" in table.title])

    def test_calls_on_few_elements(self):
        words = " ".join(sections.calls_section(machine_of(calls())).paragraphs).replace(THIN_SPACE, " ")
        self.assertIn("A call of serial() on 16 doubles takes 40.0 ns, a loop in the caller's code 5.00 ns; with a CUDA driver in the process the "
                      "call takes 50.0 ns.", words)
        self.assertIn("From 16 threads at once serial() makes 13.9 times as many calls as from one, where the loop does 16.0 times as many", words)
        without = calls(no_driver="there is none")
        without["rows"] = [row for row in without["rows"] if row.get("driver") is not True]
        words = " ".join(sections.calls_section(machine_of(without)).paragraphs).replace(THIN_SPACE, " ")
        self.assertNotIn("with a CUDA driver in", words)
        self.assertIn("With a CUDA driver nothing was timed: there is none.", words)

    def test_in_stream_and_to_the_host_are_kept_apart(self):
        body = peers()
        body["rows"] = [
            row | {"to_host": to_host, "onefold": times(row["onefold"]["median_s"] * (1 + to_host))}
            for row in body["rows"]
            if row["where"] == "gpu"
            for to_host in (False, True)
        ]
        found = sections.ratio_section(machine_of(body))
        self.assertEqual(len(found.pictures), 4)
        self.assertIn("on the GPU, to the host", " ".join(found.paragraphs))

    def test_a_memory_study_over_sizes_is_drawn_as_lines_and_the_rest_as_bars(self):
        transfers = sections.memory_section(machine_of(memory())).parts[1]
        self.assertEqual(len(transfers.pictures), 3)  # the lines and the pieces on the GPU, two bars on the CPU
        legend = [text.get_text() for text in transfers.pictures[0].figure.texts]
        self.assertIn("to the device, pageable", legend)
        self.assertIn("to the device, pinned", legend)

    def test_where_nobody_is_ahead_it_says_so(self):
        words = " ".join(sections.ratio_section(machine_of(sweep())).paragraphs)
        self.assertIn("no peer is ahead at any of them", words)

    def test_noisy_figures_are_marked(self):
        report = report_of(peers())
        self.assertIn("There is one in these records.", page.markdown(report))
        self.assertIn("1.50 ~", page.html(report))

    def test_two_gpus_when_the_memory_explains_it(self):
        report = report_of(
            sweep(gpu="Slow", bandwidth=2e12),
            sweep(gpu="Fast", bandwidth=4e12),
            latency(gpu="Slow"),
            latency(gpu="Fast"),
            ladder(gpu="Slow"),
            ladder(gpu="Fast"),
        )
        words = " ".join(report.comparison.paragraphs)
        self.assertIn("For sums of large arrays take the Fast", words)
        self.assertIn("2.00 times as fast as the Slow", words)
        self.assertIn("The memory explains it", words)
        self.assertIn("differ by 0.0 %, less than is worth money", words)
        self.assertIn("Rewriting gains more.", words)

    def test_two_gpus_when_the_memory_does_not_explain_it(self):
        report = report_of(sweep(gpu="Slow", share=0.5), sweep(gpu="Fast", share=1.0))
        self.assertIn("The memory alone does not explain it", " ".join(report.comparison.paragraphs))

    def test_two_gpus_that_are_alike(self):
        report = report_of(sweep(gpu="One"), sweep(gpu="Other", share=0.91))
        self.assertIn("Buy the cheaper one for sums", " ".join(report.comparison.paragraphs))

    def test_one_machine_is_not_compared(self):
        self.assertIsNone(comparison([machine_of(sweep())]))


class Machines(unittest.TestCase):
    def test_a_record_of_the_cpu_goes_to_the_gpu_of_its_host(self):
        self.assertEqual([record.study for record in machine_of(sweep(), cpu()).records].count("cpu"), 1)

    def test_a_host_that_two_gpus_share_is_a_machine_of_its_own_unless_the_folder_tells(self):
        bodies = [sweep(gpu="One"), sweep(gpu="Other"), cpu()]
        found, _ = records.machines(wrapped(bodies))
        self.assertEqual([machine.name for machine in found], ["One", "Other", "A made-up CPU"])
        apart = wrapped(bodies)
        apart[1].path = "elsewhere/sweep.json"
        found, _ = records.machines(apart)
        self.assertEqual([machine.name for machine in found], ["One", "Other"])
        self.assertEqual([record.study for record in found[0].records], ["sweep", "cpu"])

    def test_of_two_records_of_a_kind_the_newer_counts_and_the_older_is_named(self):
        new, old = sweep(bandwidth=1e12), sweep()
        new["time"] = "2001-01-01T00:00:00Z"
        machine = machine_of(old, new)
        self.assertEqual(len(machine.records), 1)
        self.assertEqual(machine.records[0].body["time"], new["time"])
        self.assertIn("made-up/0.json is left out: made-up/1.json has the same study and is newer", machine.remarks[0])

    def test_sizes_of_the_cpu_in_several_files_are_put_together(self):
        whole = cpu()
        halves = [{**whole, "rows": whole["rows"][:18]}, {**whole, "rows": whole["rows"][18:]}]
        self.assertEqual(len(machine_of(*halves).records[0].rows()), 36)


class Counter(html.parser.HTMLParser):
    """Tags that are left open, names of places, and links."""

    VOID = ("meta", "br", "link", "img", "input", "hr", "path", "use")

    def __init__(self, words):
        super().__init__()
        self.open, self.ids, self.links, self.tags = [], [], [], set()
        self.feed(words)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        named = dict(attributes)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named[name] for name in ("href", "src", "xlink:href") if name in named]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            if not self.open or self.open[-1] != tag:
                raise AssertionError(f"</{tag}> where {self.open[-3:]} are open")
            self.open.pop()


def drawn_once(draw):
    """`draw`, which gives the figure that it made before where it is asked for the same again."""
    made = {}

    def named(value):
        code = getattr(value, "__code__", None)  # a function: what it is, and what it knows from where it was made
        return repr(value) if code is None else f"{id(code)} {[named(cell.cell_contents) for cell in value.__closure__ or ()]}"

    def draw_or_give(*arguments, **more):
        asked = (*map(named, arguments), *((name, named(value)) for name, value in sorted(more.items())))
        if asked not in made:
            made[asked] = draw(*arguments, **more)
        return made[asked]

    return draw_or_give


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = report_of(*everything(), sweep(gpu="Another <made-up> GPU"), ladder(gpu="Another <made-up> GPU"))
        cls.words = page.html(cls.report)
        cls.parsed = Counter(cls.words)

    def test_it_needs_nothing_else(self):
        self.assertFalse(self.parsed.tags & {"script", "link", "img", "iframe", "object", "image"})
        self.assertEqual([link for link in self.parsed.links if not link.startswith("#")], [])
        for words in ("http://", "https://", "@import", "javascript:", " onclick"):
            self.assertNotIn(words, self.words.replace("http://www.w3.org/", ""))
        self.assertEqual(re.findall(r"url\((?!#)", self.words), [])

    def test_its_places_are_unique_and_its_links_lead_somewhere(self):
        self.assertEqual(len(self.parsed.ids), len(set(self.parsed.ids)))
        places = set(self.parsed.ids)
        self.assertEqual([link for link in self.parsed.links if link[1:] not in places], [])
        self.assertEqual([name for name in re.findall(r"url\(#([^)]*)\)", self.words) if name not in places], [])

    def test_its_tags_are_closed(self):
        self.assertEqual(self.parsed.open, [])

    def test_its_charts_are_of_colours_that_follow_the_theme(self):
        drawn = re.findall(r"<svg.*?</svg>", self.words, flags=re.DOTALL)
        self.assertGreater(len(drawn), 20)
        for one in drawn:
            xml.etree.ElementTree.fromstring(one)
            self.assertEqual(re.findall(r"#[0-9a-fA-F]{6}\b", one), [])
            self.assertNotIn("DejaVu", one)
            self.assertIn("<text", one)

    def test_names_are_escaped(self):
        self.assertIn("Another &lt;made-up&gt; GPU", self.words)
        self.assertNotIn("<made-up>", self.words)
        self.assertNotIn("<made-up>", page.markdown(self.report))

    def test_sections_stand_where_their_records_are(self):
        titles = lambda *bodies: [section.title for section in all_sections(report_of(*bodies))]
        last = ["Where the figures are from"]
        self.assertEqual(titles(ladder()), ["What rewriting your code gains", *last])
        self.assertEqual(titles(latency()), ["Small arrays: latency", *last])
        self.assertEqual(titles(tune()), ["Tuned launches", *last])
        self.assertEqual(titles(scaling()), ["More threads on the CPU", *last])
        self.assertEqual(titles(sweep()), ["From small to large arrays", "Against the peers", *last])
        self.assertEqual(titles(memory())[:2], ["What decides it: the studies of memory and instructions", *last])

    def test_the_summary_has_the_answers_and_tables_that_hold_together(self):
        words = page.markdown(self.report)
        self.assertIn(
            "For large arrays they are alike: 2³⁰ floats are summed at 1.80\u202fTB/s on the A made-up GPU and at 1.80\u202fTB/s on the Another &lt;made-up> GPU",
            words,
        )
        columns = None
        for line in words.splitlines():
            if line.startswith("|"):
                count = len(re.findall(r"(?<!\\)\|", line))
                self.assertEqual(columns or count, count, line)
                columns = count
            else:
                columns = None

    def test_what_is_missing_or_odd_in_a_record_does_not_end_it(self):
        """Each value of a record in turn is taken away or replaced by something that it should not be.

        Most charts are then as they were, and most of the time would be spent on drawing those again.
        """
        for name in ("lines", "bars"):
            remembering = unittest.mock.patch.object(charts, name, drawn_once(getattr(charts, name)))
            remembering.start()
            self.addCleanup(remembering.stop)

        def places(value, path=()):
            yield path
            items = value.items() if isinstance(value, dict) else list(enumerate(value))[:2] if isinstance(value, list) else []
            for key, inner in items:
                yield from places(inner, (*path, key))

        def changed(body, path, into):
            body = copy.deepcopy(body)
            holder = body
            for key in path[:-1]:
                holder = holder[key]
            if into is None and isinstance(holder, dict):
                del holder[path[-1]]
            else:
                holder[path[-1]] = into
            return body

        odd = (None, "odd", -1, [], {"odd": 1}, [None], 1e308)
        tried = 0
        for body in everything():
            rows = "rows" if "rows" in body else "studies"
            body = {**body, rows: body[rows][:1]}
            for path in places(body):
                if path in ((), ("study",)) or path[-1] in ("min_s", "max_s"):
                    continue
                into = odd[tried % len(odd)]  # all of them at all places would take minutes
                tried += 1
                try:
                    page.markdown(page.Report(*records.machines(wrapped([changed(body, path, into)]))))
                except Exception as problem:
                    self.fail(f"{body['study']}, {path} -> {into!r}: {type(problem).__name__}: {problem}")
        self.assertGreater(tried, 200)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="onefold-report-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, body):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(body if isinstance(body, str) else json.dumps(body))
        return self.path(name)

    def run_script(self, script, *typed, **environment):
        return subprocess.run(
            [sys.executable, os.path.join(SCRIPTS, script), *typed],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, **environment},
        )

    def refuse(self, *typed, says):
        done = self.run_script("report.py", *typed)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Areport\.py: [^\n]*\n\Z")
        self.assertIn(says, done.stderr)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_the_page_and_its_summary(self):
        done = self.run_script("report.py", self.file("a.json", sweep()), "--out", self.path("out"), "--picture", self.path("p.svg"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("sums floats at", done.stdout.splitlines()[0])
        self.assertLessEqual(len(done.stdout.splitlines()), page.MOST_LINES)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["index.html", "summary.md"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "out", "p.svg"])

    def test_the_same_records_make_the_same_page(self):
        record = sweep()
        for row in record["rows"]:
            read = row["read_limit"]["cold"]["median_s"]
            for place, name in enumerate(("vector_load", "warp_shuffle", "grid_stride", "top_down")):
                row["variants"][name] = {"cold": times((3 + place) * read)}
        record = self.file("a.json", record)
        made = []
        for out in ("1", "2"):
            self.run_script("report.py", record, "--out", self.path(out), PYTHONHASHSEED=out)
            with open(os.path.join(self.path(out), "index.html"), encoding="utf-8") as file:
                made.append(file.read())
        self.assertEqual(*made)

    def test_the_picture_stands_alone_in_light_and_dark(self):
        words = picture.picture([machine_of(sweep())])
        xml.etree.ElementTree.fromstring(words)
        for part in ("prefers-color-scheme: dark", colours.LIGHT["onefold"], colours.DARK["onefold"], "<title>"):
            self.assertIn(part, words)
        self.refuse(self.file("a.json", ladder()), "--picture", self.path("p.svg"), says="--picture needs a record of a sweep")
        self.refuse(self.file("a.json", ladder()), "--picture", self.path("p.png"), says="does not end in .svg")

    def test_what_is_no_record_is_refused_with_a_sentence(self):
        out = ("--out", self.path("out"))
        self.refuse(self.file("a.json", "no JSON"), *out, says="a.json: is no JSON")
        self.refuse(self.file("a.json", "[1, 2]"), *out, says="it names no study")
        self.refuse(self.file("a.json", "{}"), *out, says="it names no study")
        self.refuse(self.file("a.json", "\x00\x01"), *out, says="is no JSON")
        self.refuse(self.path("missing.json"), *out, says="No such file or directory")
        self.refuse(self.folder, *out, says="Is a directory")

    def test_records_of_one_machine_are_kept_in_one_file(self):
        kept = self.path("records.json")
        older, newer = (sweep(share=share) for share in (0.8, 0.9))
        parts = [{**cpu(), "rows": [row for row in cpu()["rows"] if row["threads"] == threads]} for threads in (1, 16)]
        for bodies in ((older, ladder()), (newer, latency()), parts):
            done = self.run_script("keep.py", kept, *[self.file(f"{place}.json", body) for place, body in enumerate(bodies)])
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(json.load(file), [newer, ladder(), latency(), *parts])
        self.assertEqual(
            self.page_of(kept), self.page_of(*[self.file(f"{place}.json", body) for place, body in enumerate((newer, ladder(), latency(), *parts))])
        )
        done = self.run_script("keep.py", kept, self.file("bad.json", "{}"))
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Akeep\.py: [^\n]*it names no study\n\Z")
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)), 5)

    def page_of(self, *paths):
        out = self.path("made")
        done = self.run_script("report.py", *paths, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
            return file.read()

    def test_what_cannot_be_asked_is_refused(self):
        record = self.file("a.json", sweep())
        self.refuse(record, says="--out or --picture")
        self.refuse(says="RECORD.json")
        self.refuse(record, "--bogus", "--out", self.path("out"), says="--bogus")
        self.refuse(record, "--out", record, says="cannot be made a folder")

    def test_a_study_of_the_future_is_named_and_left_out(self):
        future = self.file("future.json", made_up("teleportation", rows=[]))
        done = self.run_script("report.py", self.file("a.json", sweep()), future, "--out", self.path("out"))
        self.assertEqual(done.returncode, 0)
        self.assertRegex(
            done.stderr, r"\Areport\.py: \S*future\.json is left out: this report does not know the study teleportation\.\n\Z"
        )
        with open(os.path.join(self.path("out"), "index.html"), encoding="utf-8") as file:
            self.assertIn("does not know the study teleportation", file.read())

    def test_a_layout_of_the_future_is_named_and_left_out(self):
        for body in everything():
            rows = "rows" if "rows" in body else "studies"
            report = report_of({**body, rows: [{"a newer": "layout"}]})
            self.assertRegex(page.markdown(report), r"0\.json is left out: it has no \w+ that this report can read", body["study"])

    def test_the_ladder_alone(self):
        record = self.file("a.json", ladder())
        done = self.run_script("ladder.py", record, self.path("it's a picture.png"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        with open(self.path("it's a picture.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        done = self.run_script("ladder.py", self.file("b.json", cpu_ladder()), self.path("x.svg"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        xml.etree.ElementTree.parse(self.path("x.svg"))
        done = self.run_script("ladder.py", self.file("c.json", sweep()), self.path("y.png"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("is no ladder's record", done.stderr)
        done = self.run_script("ladder.py", record, self.path("missing/y.png"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aladder\.py: [^\n]*No such file or directory\n\Z")


if __name__ == "__main__":
    if matplotlib is None and sys.executable != SYSTEM_PYTHON and os.path.exists(SYSTEM_PYTHON):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
    unittest.main()
