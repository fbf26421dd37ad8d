#!/usr/bin/env python3
"""Runs the built onefold-perf as a user would: what it refuses, what it says, and that it does so before it measures.

usage: end_to_end.py ONEFOLD_PERF [unittest arguments]

Needs nothing but Python's standard library. Measures tiny arrays on the CPU only; charts where matplotlib is installed.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PERF = None
SMALL = ("ladder", "--cpu", "--n", "4096", "--repeats", "2")
HINT = "(onefold-perf --help shows what can be asked)"
DRAWING_PYTHON = "for python in python3 /usr/bin/python3; do \"$python\" -c 'import matplotlib' && exit 0; done; exit 1"


def run(*arguments, **options):
    return subprocess.run([PERF, *arguments], capture_output=True, text=True, timeout=120, **options)


def can_draw():
    return subprocess.run(["sh", "-c", DRAWING_PYTHON], stderr=subprocess.DEVNULL, check=False).returncode == 0


class PerfTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="onefold-perf-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def refuse(self, *arguments, says):
        """Status 2, one line on standard error, and nothing on standard output: nothing was measured."""
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "", arguments)
        self.assertRegex(done.stderr, r"\Aonefold-perf: [^\n]*\n\Z", arguments)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.stderr)

    def test_version(self):
        done = run("--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\Aonefold-perf \d+\.\d+\.\d+, commit \S+\n\Z")

    def test_help_names_the_studies(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("ladder", "sweep", "forms", "latency", "cpu", "scaling", "folds", "calls", "memory", "peers", "tune", "report", "compare", "--version",
                     "Exit status"):
            self.assertIn(word, done.stdout)

    def test_what_cannot_be_asked_is_refused_in_one_line_with_status_2(self):
        self.refuse(says=["ladder, sweep, forms, latency, cpu, scaling, folds, fused, exact, host, ranges, devices, calls, memory, peers, tune, report or compare", HINT])
        self.refuse("pers", says=["did you mean peers?", HINT])
        self.refuse("laddder", says=["did you mean ladder?", HINT])
        self.refuse("ladder", "--bogus", says=["--bogus", HINT])
        self.refuse("ladder", "cpu", says=HINT)
        for option, value in (("--n", "x"), ("--n", "0"), ("--n", "-3"), ("--n", "1.5"), ("--repeats", "0"), ("--type", "f99"),
                              ("--op", "mean"), ("--device", "-1"), ("--block-size", "0")):
            self.refuse("ladder", option, value, says=[option, HINT])
        self.refuse("ladder", "--json", says=["--json", HINT])
        self.refuse("cpu", "--threads", "7", says=["--threads", HINT])
        self.refuse("cpu", "--form", "mean", says=["--form", HINT])
        self.refuse("cpu", "--from", "-3", says=["--from", HINT])
        self.refuse("cpu", "--to", "70", says=["--to", HINT])
        self.refuse("cpu", "--from", "10", "--to", "5", says=["--from", "10 is more than --to, 5", HINT])

    def test_every_study_has_the_common_options(self):
        for study in ("ladder", "sweep", "forms", "latency", "cpu", "scaling", "folds", "calls", "memory", "peers", "tune"):
            done = run(study, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), study)
            for option in ("--repeats", "--quick", "--json"):
                self.assertIn(option, done.stdout, study)

    def test_a_study_of_memory_is_named(self):
        self.refuse("memory", "nope", says=["nope", "coalescing", HINT])
        record = self.path("x.json")
        done = run("memory", "divergence", "--quick", "--json", record)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(record, encoding="utf-8") as file:
            kept = json.load(file)
        self.assertEqual([study["name"] for study in kept["studies"]], ["divergence"])
        for row in kept["studies"][0]["on"]["cpu"]:
            self.assertIn(row["case"], done.stdout)

    def test_the_search_for_a_policy_needs_a_gpu_or_a_place_for_it(self):
        missing = self.path("missing/p")
        done = run("tune", "--save", missing, "--quick")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\Aonefold-perf: (this study needs a GPU|.*missing/p: cannot be written)[^\n]*\n\Z")

    def test_a_report(self):
        out = self.path("page")
        self.refuse("report", says=["records", HINT])
        self.refuse("report", self.path("none.json"), says=["none.json", HINT])
        no_record = self.path("no.json")
        with open(no_record, "w", encoding="utf-8") as file:
            file.write("[1, 2")
        if not can_draw():
            self.refuse("report", no_record, "--out", out, says="matplotlib")
            self.skipTest("there is no python3 with matplotlib")
        self.refuse("report", no_record, "--out", out, says="no.json")
        record = self.path("it's a record.json")
        self.assertEqual(run(*SMALL, "--json", record).returncode, 0)
        done = run("report", record, "--out", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(out)), ["index.html", "summary.md"])
        self.assertLessEqual(len(done.stdout.splitlines()), 10)

    def test_a_message_stays_on_one_line_whatever_was_typed(self):
        self.refuse("ladder", "--type", "f32\nf64", says="f32\\x0af64")

    def test_a_variant_that_is_none_is_refused_on_a_cpu_too(self):
        self.refuse(*SMALL, "--variants", "nope", says=["nope", "'onefold variants' lists them"])
        self.refuse(*SMALL, "--variants", "warp_shufle", says="did you mean warp_shuffle?")
        self.refuse("ladder", "--variants", "cub,vector_laod", says="did you mean vector_load?")

    def test_options_of_the_gpu_are_refused_on_the_cpus_ladder(self):
        for option, value in (("--variants", "cub"), ("--block-size", "256"), ("--device", "0")):
            self.refuse(*SMALL, option, value, says=[option, "--cpu asks for the CPU's"])

    def test_a_bad_json_path_fails_before_anything_is_measured(self):
        missing = self.path("missing/x.json")
        self.refuse(*SMALL, "--json", missing, says=[missing, "cannot be written", "No such file or directory"])
        self.refuse(*SMALL, "--json", self.folder, says="it is a folder")
        self.refuse("cpu", "--from", "0", "--to", "0", "--json", missing, says="cannot be written")

    def test_a_plot_without_json_is_refused(self):
        self.refuse(*SMALL, "--plot", self.path("x.png"), says=["--plot", "--json", HINT])
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_bad_plot_path_fails_before_anything_is_measured(self):
        record = self.path("x.json")
        missing = self.path("missing/x.png")
        self.refuse(*SMALL, "--json", record, "--plot", missing, says=[missing, "cannot be written"])
        self.refuse(*SMALL, "--json", record, "--plot", self.path("x.tiff9"), says="ends in .png")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_plot_without_matplotlib_is_refused_before_anything_is_measured(self):
        if can_draw():
            self.skipTest("matplotlib is installed here")
        self.refuse(*SMALL, "--json", self.path("x.json"), "--plot", self.path("x.png"), says="matplotlib")

    def test_a_plot_is_drawn(self):
        if not can_draw():
            self.skipTest("there is no python3 with matplotlib")
        picture = self.path("it's a picture.png")
        done = run(*SMALL, "--json", self.path("x.json"), "--plot", picture)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(picture, "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_the_cpus_ladder_and_its_record(self):
        record = self.path("x.json")
        done = run(*SMALL, "--type", "f64", "--json", record)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(record, encoding="utf-8") as file:
            kept = json.load(file)
        self.assertEqual((kept["study"], kept["type"], kept["count"]), ("cpu_ladder", "f64", 4096))
        self.assertEqual(os.listdir(self.folder), ["x.json"])
        for row in kept["rows"]:
            self.assertIn(row["name"], done.stdout)
        # A share of the read limit is believable, or there is none and a sentence says why.
        shares = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith(("plain loop", "std::", "serial", "openmp("))]
        self.assertEqual(len(shares), len(kept["rows"]))
        for share in shares:
            if share != "-":
                self.assertLessEqual(float(share), 150.0)
        self.assertEqual("-" in shares, "warning: the read limit" in done.stdout)
        self.assertEqual("-" in shares, "warnings" in kept)

    def record_of(self, *arguments):
        """The record and what was printed; no GPU can be used."""
        record = self.path("x.json")
        done = run(*arguments, "--json", record, env=dict(os.environ, CUDA_VISIBLE_DEVICES="-1"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(record, encoding="utf-8") as file:
            return json.load(file), done.stdout

    def test_every_peer_is_measured_or_named_as_missing(self):
        kept, printed = self.record_of("peers", "--from", "10", "--to", "14", "--repeats", "2")
        self.assertEqual(kept["study"], "peers")
        missing = {(one["peer"], one["where"], one.get("threads")) for one in kept["missing"]}
        for peer in ("cub", "thrust", "cublas", "kokkos"):
            self.assertIn((peer, "gpu", None), missing)
        teams = {row["threads"] for row in kept["rows"]}
        self.assertIn(1, teams)
        for threads in teams:
            rows = [row for row in kept["rows"] if row["threads"] == threads]
            self.assertEqual(len(rows), 4 * 2 * 2)  # forms, types, sizes
            peers = ["omp simd", "kokkos", "eigen", "openblas"] + (["std", "std unseq"] if threads == 1 else ["std par_unseq"])
            for peer in peers:
                measured = [row for row in rows if peer in row["peers"]]
                if len(measured) < len(rows):
                    self.assertIn((peer, "cpu", threads), missing)
                self.assertEqual(bool(measured), any(one["peer"] == peer and one.get("threads") == threads for one in kept["worst"]))
            for row in rows:
                for times in (row["read_limit"], row["onefold"], *row["peers"].values()):
                    self.assertGreater(times["median_s"], 0)
                    self.assertEqual(times["count"], 2)
        for one in kept["missing"]:
            self.assertTrue(one["why"])
            self.assertIn(f"missing: {one['peer']} ", printed)
        for one in kept["worst"]:
            ratios = [row["onefold"]["median_s"] / row["peers"][one["peer"]]["median_s"] for row in kept["rows"]
                      if row["threads"] == one["threads"] and one["peer"] in row["peers"]]
            self.assertAlmostEqual(one["ratio"], max(ratios), places=9)
            self.assertIn(f"worst: {one['ratio']:.2f} at 2^", printed)

    def test_scaling_goes_from_one_thread_to_all(self):
        kept, _ = self.record_of("scaling", "--from", "16", "--to", "16", "--repeats", "1")
        self.assertEqual(kept["study"], "scaling")
        for what in ("sum", "dot"):
            for kind, size in (("f32", 4), ("f64", 8)):
                rows = [row for row in kept["rows"] if (row["form"], row["type"]) == (what, kind)]
                teams = [row["threads"] for row in rows]
                self.assertEqual(teams, sorted(set(teams)))
                self.assertEqual(teams[0], 1)
                for row in rows:
                    self.assertEqual((row["count"], row["bytes"]), (2**16, 2**16 * size * (2 if what == "dot" else 1)))
                    self.assertIn("omp simd", row["peers"])

    def test_folds_stand_beside_loops_by_hand(self):
        kept, printed = self.record_of("folds", "--from", "12", "--to", "12", "--repeats", "2")
        self.assertEqual(kept["study"], "folds")
        floats = ("f32", "f64")
        cases = dict.fromkeys(["argmin", "argmax", "minmax", "mean_variance", "together", "lambda", "three_arrays", "filter", "box", "own_operator",
                               "argminmax"], floats)
        small_and_complex = ("i8", "u8", "f16", "bf16", "c64", "c128")
        cases |= {"count": (*floats, "u8"), "all": ("u8",), "sum": small_and_complex, "max": ("i8", "f16"), "dot": small_and_complex}
        cases |= {"several": floats, "short_rows": floats}
        cases |= dict.fromkeys(["prod", "norm1", "norm_inf"], ("c64", "c128"))
        teams = sorted({row["threads"] for row in kept["rows"]})
        self.assertEqual(teams[0], 1)
        self.assertEqual([(row["case"], row["threads"], row["type"]) for row in kept["rows"]],
                         [(case, threads, kind) for case, kinds in cases.items() for threads in teams for kind in kinds])
        sizes = {"f32": 4, "f64": 8, "i8": 1, "u8": 1, "f16": 2, "bf16": 2, "c64": 8, "c128": 16}
        arrays = {"three_arrays": 3, "dot": 2}
        for row in kept["rows"]:
            size = 16 if row["case"] == "own_operator" else sizes[row["type"]] * arrays.get(row["case"], 1)
            count = 4000 if row["case"] == "short_rows" else 4096  # rows of 100
            self.assertEqual((row["count"], row["bytes"]), (count, count * size))
            self.assertEqual("built_in" in row, row["case"] == "lambda")
            self.assertNotIn("read_limit", row)  # the array does not lie in memory
            for times in (row["onefold"], *row["by_hand"].values()):
                self.assertGreater(times["median_s"], 0)
                self.assertEqual(times["count"], 2)
            self.assertEqual(row["by_hand"][row["best"]]["median_s"], min(times["median_s"] for times in row["by_hand"].values()))
            self.assertRegex(printed, rf"\n{row['case']} +{row['type']} +{count} +{row['threads']} ")

    def test_folds_can_be_chosen(self):
        kept, _ = self.record_of("folds", "minmax", "box", "--from", "14", "--to", "14", "--repeats", "1", "--threads", "1")
        self.assertEqual([(row["case"], row["threads"]) for row in kept["rows"]], [("minmax", 1), ("minmax", 1), ("box", 1), ("box", 1)])
        self.refuse("folds", "maxmin", says=["maxmin", "own_operator", HINT])

    def test_calls_on_few_elements(self):
        kept, printed = self.record_of("calls", "--quick", "--repeats", "2")
        self.assertEqual(kept["study"], "calls")
        drivers = [False] if "no_driver" in kept else [False, True]
        self.assertEqual("no CUDA driver can be loaded" in printed, drivers == [False])
        single = [row for row in kept["rows"] if row["case"] == "one call"]
        self.assertEqual([(row["driver"], row["form"], row["count"]) for row in single],
                         [(driver, what, count) for driver in drivers for what in ("sum", "dot") for count in (16, 64, 256, 1024)])
        several = [row for row in kept["rows"] if row["case"] == "at once"]
        self.assertEqual(several[0]["threads"], 1)
        self.assertEqual(len(single) + len(several), len(kept["rows"]))
        for row in kept["rows"]:
            for times in (row["onefold"], row["loop"]):
                self.assertGreater(times["median_s"], 0)
                self.assertLess(times["median_s"], 1e-3)  # of one call, not of all
                self.assertEqual(times["count"], 2)

    def test_sizes_that_a_study_does_not_have_are_refused(self):
        for study in ("peers", "scaling", "folds"):
            self.refuse(study, "--from", "11", "--to", "11", says="no size of this study lies between --from and --to")

    def records(self, slower):
        """A record of the CPU's ladder, and a copy whose every time is `slower` times as long."""
        before, after = self.path("before.json"), self.path("after.json")
        self.assertEqual(run("ladder", "--cpu", "--n", "4096", "--repeats", "5", "--json", before).returncode, 0)
        with open(before, encoding="utf-8") as file:
            kept = json.load(file)
        for row in kept["rows"]:
            row["time"] = {**row["time"], "spread": 0.001}
            row["time"].pop("noisy", None)  # as it may be on a busy machine
        with open(before, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        for row in kept["rows"]:
            row["time"]["median_s"] *= slower
        with open(after, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        return before, after, len(kept["rows"])

    def test_compare_says_what_became_slower(self):
        before, after, count = self.records(1.2)
        verdict = self.path("verdict.json")
        done = run("compare", before, after, "--json", verdict)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(done.stdout.count(" 1.200 "), count)
        self.assertRegex(done.stdout, rf"\n\d+ figures: \d+ the same, 0 faster, {count} slower, \d+ too noisy; median ratio 1\.\d+\n\Z")
        with open(verdict, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["summary"]["slower"], count)
        self.assertEqual(run("compare", after, before).returncode, 0)
        self.assertEqual(run("compare", before, before).returncode, 0)
        self.assertEqual(run("compare", before, after, "--limit", "0.25").returncode, 0)

    def test_compare_refuses_what_it_cannot_compare(self):
        before, _, _ = self.records(1)
        self.refuse("compare", says=["records", HINT])
        self.refuse("compare", before, says=["records", HINT])
        self.refuse("compare", before, before, "--limit", "-1", says=["--limit", HINT])
        self.refuse("compare", before, self.path("none.json"), says=["none.json", HINT])
        self.assertEqual(run("compare", before, before, "--ratios").returncode, 0)
        self.refuse("compare", before, before, "--json", self.path("missing/x.json"), says="cannot be written")
        other = self.path("other.json")
        for text, says in (("{", "no JSON object"), ("[]", "no JSON object"), ("{}", "names no study"),
                           ('{"study": "sweep"}', "of one study")):
            with open(other, "w", encoding="utf-8") as file:
                file.write(text)
            self.refuse("compare", before, other, says=says)

    def test_json_into_a_pipe_leaves_the_pipe_alone(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            try:
                done = run(*SMALL, "--json", pipe)
                text = reader.communicate(timeout=10)[0]
            finally:
                reader.kill()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(text)["study"], "cpu_ladder")
        self.assertEqual(os.listdir(self.folder), ["pipe"])

    def test_a_full_disk_is_said(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PERF, *SMALL], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Aonefold-perf: [^\n]*\n\Z")
        full_file = self.path("full")  # a link, so that a tool that replaces what it should write to harms no device
        os.symlink("/dev/full", full_file)
        done = run(*SMALL, "--json", full_file)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"onefold-perf: {full_file}: cannot be written: is the disk full?\n")


def main():
    global PERF
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    PERF = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])


if __name__ == "__main__":
    main()
