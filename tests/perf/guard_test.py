#!/usr/bin/env python3
""".ci/perf-guard with an onefold-perf whose times are made up, and whose verdicts are those of the real one.

usage: guard_test.py ONEFOLD_PERF [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PERF = None

# Measures nothing: the ratios of the tries come from a file, {"sum f32 15 1": [..]}, of which the last stays; 1.1 for others.
FAKE = """#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == "compare":
    os.execv(os.environ["REAL_PERF"], [os.environ["REAL_PERF"], *sys.argv[1:]])
asked = dict(zip(sys.argv[2::2], sys.argv[3::2]))
point = " ".join(asked[name] for name in ("--form", "--type", "--from", "--threads"))
with open(os.environ["MADE_UP"] + ".log", "a", encoding="utf-8") as log:
    print(point, file=log)
with open(os.environ["MADE_UP"] + ".log", encoding="utf-8") as log:
    turn = log.read().splitlines().count(point) - 1
with open(os.environ["MADE_UP"], encoding="utf-8") as file:
    ratios = json.load(file).get(point, [1.1])
ratio = ratios[min(turn, len(ratios) - 1)]
speed = float(os.environ.get("SPEED", "1"))
times = {name: {"median_s": 9e-5 * speed, "min_s": value * 1e-6 * speed, "max_s": 1e-4 * speed, "spread": 0.3, "count": 15}
         for name, value in {"onefold": ratio, "a": 1, "b": 1.3, "std": 0.01, "Kokkos": 0.01}.items()}
rows = None if ratio is None else [{"count": 2 ** int(asked["--from"]), "threads": 1, "best": "b", "times": times}]
with open(asked["--json"], "w", encoding="utf-8") as file:
    json.dump({"study": "cpu", "cpu": "a CPU", "commit": "abc", "time": "now", "rows": rows}, file)
""".replace('"onefold": ratio,', '"onefold": ratio or 1,')


class the_guard(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.fake = self.folder / "onefold-perf"
        self.fake.write_text(FAKE, encoding="utf-8")
        self.fake.chmod(0o755)
        self.baseline = self.folder / "baseline" / "cpu.json"
        self.assertEqual(self.run_guard({}, "--update").returncode, 0)

    def run_guard(self, ratios, *arguments, perf=None, **environment):
        made_up = self.folder / "ratios"
        made_up.write_text(json.dumps(ratios), encoding="utf-8")
        log = self.folder / "ratios.log"
        log.unlink(missing_ok=True)
        done = subprocess.run([ROOT / ".ci" / "perf-guard", *arguments, "--baseline", self.baseline, perf or self.fake],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
                              env={**os.environ, "REAL_PERF": PERF, "MADE_UP": str(made_up), **environment})
        self.measured = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return done

    def test_stores_ratios_and_no_times(self):
        text = self.baseline.read_text(encoding="utf-8")
        self.assertEqual([row["onefold / best loop"]["median"] for row in json.loads(text)["rows"]], [1.1] * 9)
        for word in ("_s\"", "now", "1e-06"):
            self.assertNotIn(word, text)

    def test_stores_no_moment_of_luck(self):
        self.run_guard({"sum f32 15 1": [0.07, 1.2, 1.3]}, "--update")
        self.assertEqual(json.loads(self.baseline.read_text(encoding="utf-8"))["rows"][0]["onefold / best loop"]["median"], 1.2)

    def test_measures_each_point_once_where_all_is_well(self):
        done = self.run_guard({"sum f32 15 1": [1.7]})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("9 figures: 9 the same"), done.stdout)
        self.assertEqual(len(self.measured), 9)

    def test_does_not_care_how_fast_the_machine_is(self):
        self.assertEqual(self.run_guard({}, SPEED="20").returncode, 0)

    def test_measures_what_was_slow_again_before_it_says_so(self):
        self.assertEqual(self.run_guard({"dot f64 20 all": [9, 9, 1.2]}).returncode, 0)
        self.assertEqual(self.measured[9:], ["dot f64 20 all"] * 2)

    def test_fails_when_a_ratio_stays_bad_and_says_what_to_do(self):
        done = self.run_guard({"sum f64 15 1": [2.2]})
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.measured[9:], ["sum f64 15 1"] * 2)
        self.assertRegex(done.stdout, r"1\.100 +2\.200 +2\.000 .* slower +form sum, type f64, count 32768, team 1 / onefold / best")
        for words in ("1 of 9", "onefold-perf cpu --form sum --type f64 --from 15 --to 15 --threads 1", ".ci/perf-guard --update"):
            self.assertIn(words, done.stderr)

    def test_fails_with_a_spoilt_baseline(self):
        text = self.baseline.read_text(encoding="utf-8").replace("1.1", "0.5", 1)
        self.baseline.write_text(text, encoding="utf-8")
        self.assertEqual(self.run_guard({}).returncode, 1)

    def test_leaves_all_threads_out_on_one_core(self):
        one_core = {"sum f32 20 all": [None], "dot f64 20 all": [None]}
        self.assertEqual(self.run_guard(one_core).returncode, 0)
        done = self.run_guard(one_core, "--update")
        self.assertEqual(done.returncode, 2)
        self.assertIn("one core", done.stderr)

    def refuse(self, done, says):
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\Aperf-guard: [^\n]*\n\Z")
        self.assertIn(says, done.stderr)

    def test_refuses_what_it_cannot_use_with_a_sentence(self):
        self.refuse(self.run_guard({}, perf=self.folder / "none"), "cannot be run")
        self.refuse(self.run_guard({}, perf="/bin/false"), "ended with status 1")
        self.baseline.write_text('{"study": "cpu", "rows": []}', encoding="utf-8")
        self.refuse(self.run_guard({}), "other points")
        self.baseline.unlink()
        self.refuse(self.run_guard({}), "cannot be read")


def main():
    global PERF
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    PERF = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])


if __name__ == "__main__":
    main()
