#!/usr/bin/env python3
"""Draws a ladder's record as a bar chart: ladder.py RECORD.json PICTURE.png (or .svg). Needs matplotlib."""

import os
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is


def draw(record_path: str, picture_path: str) -> None:
    import charts
    import figures
    import records
    import svg
    from colours import LIGHT
    from quantities import elements
    from sections import ladder_figure

    ladders = [one for one in records.load(record_path) if one.study in ("ladder", "cpu_ladder")]
    record = ladders[0] if ladders else None
    found = figures.ladder(record) if record else None
    if found is None:
        raise records.NoRecord(f"{record_path}: is no ladder's record that can be drawn")
    machine = records.text((record.body.get("gpu") or {}).get("name"), "") or records.text(record.body.get("cpu"))
    title = f"{record.op.capitalize()} of {elements(found.count)} {figures.plural(record.type)}, {machine}"
    if picture_path.endswith(".svg"):
        words = svg.alone(ladder_figure(found, title, width=600), "ladder", title)
        with open(picture_path, "w", encoding="utf-8") as file:
            file.write(words)
    else:
        charts.save(ladder_figure(found, title, LIGHT, width=600), picture_path)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        draw(sys.argv[1], sys.argv[2])
    except ImportError:
        print("ladder.py: a chart needs matplotlib (Debian: python3-matplotlib), and there is none", file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"ladder.py: {picture_error(problem)}", file=sys.stderr)
        return 1
    except Exception as problem:
        if type(problem).__name__ != "NoRecord":
            raise
        print(f"ladder.py: {problem}", file=sys.stderr)
        return 2
    return 0


def picture_error(problem: OSError) -> str:
    return f"{problem.filename or os.path.basename(sys.argv[2])}: {problem.strerror}"


if __name__ == "__main__":
    sys.exit(main())
