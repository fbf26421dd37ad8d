#!/usr/bin/env python3
"""scripts/kernel-table on build trees of a few small kernels, which the nvcc of this machine compiles; no GPU is needed.

usage: tests/scripts/kernel_table_test.py [unittest's arguments]
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NVCC = os.environ.get("CUDACXX") or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

SOURCE = """
namespace {
struct twice {};
template <class T>
__global__ void scale(T* x, T by) { x[threadIdx.x] FACTOR= by; }
__global__ void spills(const float* x, float* y, int k) {
  float kept[64];
  for (int i = 0; i < 64; ++i) kept[i] = x[i];
  for (int i = 0; i < 64; ++i) y[i] = kept[(i * k) & 63];
}
__global__ void shares(float* x) {
  __shared__ float all[32];
  all[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = all[31 - threadIdx.x];
}
}
void use(float* x, double* y) {
  scale<<<1, 1>>>(x, 1.0f);
  scale<<<1, 1>>>(y, 1.0);
  spills<<<1, 1>>>(x, x, 1);
  shares<<<1, 1>>>(x);
}
"""


def run(*arguments):
    return subprocess.run([ROOT / "scripts" / "kernel-table", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, check=False)


def describe(tree, sources):
    """The compile_commands.json of a tree whose library has these sources."""
    (tree / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(tree), "file": str(source), "command": f"nvcc -c {source} -o CMakeFiles/onefold.dir/{source.name}.o"}
         for source in sources]), encoding="utf-8")


def build(folder, factor):
    """A tree as CMake would leave it, with the kernels below twice: as a lecture's variant, and as fixed_order's."""
    (folder / "build" / "CMakeFiles" / "onefold.dir").mkdir(parents=True)
    sources = [folder / "backends/cuda/kernels/scaled.cu", folder / "backends/cuda/fixed_order/f99.cu"]
    for source in sources:
        source.parent.mkdir(parents=True)
        source.write_text(SOURCE.replace("FACTOR", factor), encoding="utf-8")
        target = folder / "build" / "CMakeFiles" / "onefold.dir" / f"{source.name}.o"
        subprocess.run([NVCC, "-arch=sm_90", "-c", source, "-o", target], check=True)
    describe(folder / "build", sources)
    return folder / "build"


@unittest.skipIf(NVCC is None, "there is no nvcc")
class the_table_of_kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)
        cls.tree = build(cls.folder / "a", "*")
        cls.elsewhere = build(cls.folder / "another folder" / "of a longer name", "*")
        cls.changed = build(cls.folder / "b", "+")
        cls.table = cls.folder / "kernels.tsv"
        done = run("--update", "--file", cls.table, cls.tree)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def rows(self, tree):
        lines = [line.split("\t") for line in run(tree).stdout.splitlines() if not line.startswith("#")]
        return {(row[1], row[2]): dict(zip(lines[0], row)) for row in lines[1:]}

    def spoilt(self, old, new):
        """A copy of the table with one text replaced by another."""
        text = self.table.read_text(encoding="utf-8")
        self.assertIn(old, text)
        copy = self.folder / "spoilt.tsv"
        copy.write_text(text.replace(old, new), encoding="utf-8")
        return copy

    def test_has_a_line_for_each_kernel_of_fixed_order_and_one_for_all_instances_of_another(self):
        rows = self.rows(self.tree)
        self.assertEqual({name for source, name in rows if source == "scaled"}, {"scale", "shares", "spills"})
        self.assertEqual({name for source, name in rows if source == "fixed_order/f99"},
                         {"scale<float>", "scale<double>", "shares", "spills"})
        self.assertEqual(rows["scaled", "scale"]["instances"], "2")

    def test_says_what_a_kernel_takes(self):
        rows = self.rows(self.tree)
        self.assertIn(rows["scaled", "shares"]["shared_bytes"], ("128", "1152"))  # CUDA may keep 1 KiB for itself
        self.assertEqual((rows["scaled", "shares"]["stack_bytes"], rows["scaled", "shares"]["spills"]), ("0", "0"))
        self.assertEqual(rows["scaled", "spills"]["stack_bytes"], "256")
        self.assertGreaterEqual(int(rows["scaled", "spills"]["spills"]), 65)  # 64 values stored one by one or by fours, and loaded
        for row in rows.values():
            self.assertGreater(int(row["registers"]), 3)
            self.assertLessEqual(16 * int(row["instructions"]), int(row["code_bytes"]))

    def test_is_the_same_from_another_folder(self):
        self.assertEqual(run(self.tree).stdout, run(self.elsewhere).stdout)
        done = run("--check", "--file", self.table, self.elsewhere)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "kernel-table: the code of 8 kernels (sm_90) is that of kernels.tsv\n")

    def test_shows_that_code_changed_and_says_what_to_do(self):
        done = run("--check", "--file", self.table, self.changed)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^  sm_90 scaled scale: ")
        self.assertRegex(done.stdout, r"(?m)^  sm_90 fixed_order/f99 scale<double>: ")
        self.assertNotIn("shares", done.stdout)
        for words in ("3 of 7 lines", "scripts/gpu-suite", "onefold-perf compare", "scripts/kernel-table --update"):
            self.assertIn(words, " ".join(done.stderr.split()))

    def test_shows_which_figure_changed_and_which_kernels_came_and_went(self):
        done = run("--check", "--file", self.spoilt("\t256\t", "\t64\t"), self.tree)
        self.assertEqual((done.returncode, done.stdout.count("stack_bytes 64 -> 256\n")), (1, 2))
        done = run("--check", "--file", self.spoilt("scaled\tspills", "scaled\tspilt"), self.tree)
        self.assertEqual((done.returncode, done.stdout), (1, "  sm_90 scaled spills: is new\n  sm_90 scaled spilt: is gone\n"))

    def test_skips_the_code_of_another_compiler_or_architecture(self):
        for old, new in (("release 13", "release 99"), ("release 12", "release 99"), ("sm_90\t", "sm_80\t")):
            if old in self.table.read_text(encoding="utf-8"):
                done = run("--check", "--file", self.spoilt(old, new), self.changed)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout.startswith("kernel-table: skipped: "), done.stdout)

    def test_is_written_anew_by_update(self):
        copy = self.spoilt("scaled", "scald")
        self.assertEqual(run("--check", "--file", copy, self.tree).returncode, 1)
        self.assertEqual(run("--update", "--file", copy, self.tree).returncode, 0)
        self.assertEqual(copy.read_text(encoding="utf-8"), self.table.read_text(encoding="utf-8"))


class what_cannot_be_read(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def refuse(self, *arguments, says):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Akernel-table: [^\n]*\n\Z")
        self.assertIn(says, done.stderr)

    def test_is_refused_with_a_sentence(self):
        self.refuse("--check", self.folder, says="is no build tree")
        describe(self.folder, [pathlib.Path("src/reduce.cpp")])
        self.refuse("--check", self.folder, says="without CUDA")
        describe(self.folder, [pathlib.Path("backends/cuda/kernels/x.cu")])
        self.refuse("--check", self.folder, says="is not built")
        target = self.folder / "CMakeFiles" / "onefold.dir" / "x.cu.o"
        target.parent.mkdir(parents=True)
        target.write_bytes(b"no ELF file" * 20)
        self.refuse("--check", self.folder, says="no 64-bit ELF file")

    @unittest.skipIf(NVCC is None, "there is no nvcc")
    def test_a_missing_table_is_refused_with_what_to_type(self):
        tree = build(self.folder, "*")
        self.refuse("--check", "--file", self.folder / "none.tsv", tree, says="scripts/kernel-table --update")


if __name__ == "__main__":
    unittest.main()
