#!/usr/bin/env python3
"""Puts records that onefold-perf wrote with --json into the one file of a machine, perf/results/MACHINE/records.json.

usage: keep.py FILE RECORD.json...

FILE is made where it is missing. A record takes the place of an older one of the same study, type, form and count; of the CPU's sizes
also of the same threads. The order of the others stays. What is kept is what onefold-perf wrote, a line for each row.
Exit status: 0; 2 with one line on standard error that says what is wrong.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
import records  # noqa: E402


def key(record):
    """Sizes of the CPU come in several records, one for each number of threads; all else in one."""
    sizes = {(row.get("count"), row.get("threads")) for row in record.rows()} if record.study == "cpu" else ()
    return records.kind(record), frozenset(sizes)


def as_text(body):
    """One line for the heading's fields, and one for each row of the longest list."""
    lists = [name for name, value in body.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
    rows = max(lists, key=lambda name: len(body[name]), default=None)
    compact = {"separators": (",", ":"), "sort_keys": True}
    head = json.dumps({name: value for name, value in body.items() if name != rows}, **compact)
    if rows is None:
        return head
    lines = ",\n".join("  " + json.dumps(row, **compact) for row in body[rows])
    return f'{head[:-1]},{json.dumps(rows)}:[\n{lines}]}}'


def run(path, added):
    kept = records.load(path) if os.path.exists(path) else []
    places = {key(record): place for place, record in enumerate(kept)}
    for record in (one for name in added for one in records.load(name)):
        place = places.setdefault(key(record), len(kept))
        kept[place : place + 1] = [record]
    unfinished = path + ".part"
    with open(unfinished, "w", encoding="utf-8") as file:
        file.write("[" + ",\n".join(as_text(record.body) for record in kept) + "]\n")
    os.replace(unfinished, path)


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if set(sys.argv[1:]) & {"-h", "--help"} else 2
    try:
        run(sys.argv[1], sys.argv[2:])
    except (records.NoRecord, OSError) as problem:
        print(f"keep.py: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
