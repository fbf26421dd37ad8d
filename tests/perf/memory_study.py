#!/usr/bin/env python3
"""Runs the program of one memory study with --small and looks at what it printed and kept.

usage: memory_study.py PROGRAM {cpu|gpu}

cpu: no GPU is shown to it; a study without a side for the CPU must say so in one line. gpu: one must be there, or the test is skipped.
Exit status 77: skipped, with the reason.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
NO_GPU = "this study needs a GPU, and none can be used here"


def demand(holds, *what):
    if not holds:
        sys.exit(" ".join(str(part) for part in what))


def check_row(row, printed):
    demand(row["case"] in printed, row["case"], "is not in the table")
    demand("time" in row or row["values"], row, "has neither a time nor a figure")
    if "time" in row:
        for key in ("median_s", "min_s", "max_s"):
            demand(math.isfinite(row["time"][key]) and row["time"][key] > 0, row["case"], key, row["time"][key])
        demand(math.isfinite(row["time"]["spread"]), row["case"], "spread")
        demand(row["time"]["count"] >= 1, row["case"], "no sample")
    for value in row["values"]:
        demand(isinstance(value["number"], (int, float)) and math.isfinite(value["number"]), row["case"], value)


def main():
    program, where = sys.argv[1:]
    environment = dict(os.environ)
    if where == "cpu":
        environment["CUDA_VISIBLE_DEVICES"] = ""
    with tempfile.TemporaryDirectory(prefix="onefold-memory-") as folder:
        kept = os.path.join(folder, "kept.json")
        done = subprocess.run([program, "--small", "--repeats", "3", "--json", kept], capture_output=True, text=True, env=environment,
                              timeout=240, check=False)
        if done.returncode == 2 and NO_GPU in done.stderr:
            demand(done.stderr.count("\n") == 1 and not os.path.exists(kept), "the refusal is more than a line:", done.stderr)
            if where == "gpu":
                print("skipped:", done.stderr.strip())
                sys.exit(SKIPPED)
            print("refused as it should be:", done.stderr.strip())
            return
        demand(done.returncode == 0 and done.stderr == "", "status", done.returncode, done.stderr)
        with open(kept, encoding="utf-8") as file:
            record = json.load(file)
    demand(record["study"] == "memory" and record["small"] is True, "the record's heading is wrong")
    [study] = record["studies"]
    demand(study["name"] == os.path.basename(program), study["name"], "is not the program's name")
    if where == "gpu" and "gpu" not in study["on"]:
        demand("gpu" not in record, "there is a GPU, and the study did not run on it:", study["on"].keys())
        print("skipped: no GPU can be used here")
        sys.exit(SKIPPED)
    rows = study["on"][where]
    demand(rows, "there are no rows")
    demand(len({row["case"] for row in rows}) == len(rows), "a case is listed twice")
    for row in rows:
        check_row(row, done.stdout)
    print(f"{study['name']}: {len(rows)} cases on the {where}")


if __name__ == "__main__":
    main()
