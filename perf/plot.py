#!/usr/bin/env python3
"""Draws the ladder's bar chart: plot.py RECORD.json PICTURE.png (needs matplotlib)."""

import json
import sys


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        import matplotlib
    except ImportError:
        return 1
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with open(sys.argv[1], encoding="utf-8") as file:
        record = json.load(file)
    on_gpu = record["study"] == "ladder"
    names = [row["variant"] if on_gpu else row["name"] for row in record["rows"]]
    times = [row["cold"] if on_gpu else row["time"] for row in record["rows"]]
    rates = [record["bytes"] / time["median_s"] * 1e-9 for time in times]
    limit = record["read_limit"]["cold" if on_gpu else "all"]["median_s"]
    limit_rate = record["bytes"] / limit * 1e-9

    figure, axes = plt.subplots(figsize=(9, 0.32 * len(names) + 1.6))
    axes.barh(names, rates, color="#3b6ea5")
    axes.invert_yaxis()
    axes.set_xscale("log")  # the rungs span three orders of magnitude
    if "warnings" not in record:  # which say that the limit is none
        axes.axvline(limit_rate, color="#b03a2e", linewidth=1, label=f"read limit {limit_rate:.0f} GB/s")
        axes.legend(loc="lower right", fontsize=8)
    for place, rate in enumerate(rates):
        axes.text(rate * 1.03, place, f"{rate:.3g}", va="center", fontsize=8)
    machine = record["gpu"]["name"] if on_gpu else record["cpu"]
    axes.set_xlabel("GB/s of input, logarithmic")
    axes.set_title(f"{record['op']} of {record['count']} {record['type']}, {machine}, commit {record['commit']}", fontsize=10)
    axes.margins(x=0.12)
    figure.tight_layout()
    try:
        figure.savefig(sys.argv[2], dpi=150)
    except OSError as problem:
        print(f"plot.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
