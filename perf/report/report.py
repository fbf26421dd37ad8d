#!/usr/bin/env python3
"""Makes a page and a summary of records that onefold-perf wrote with --json.

usage: report.py RECORD.json... --out FOLDER [--picture FILE.svg]

FOLDER/index.html is one page that needs nothing else: no script, no font, no picture beside it. FOLDER/summary.md says the same in short.
--picture draws the speed of sums on a GPU over their size, as in the README. Records of several machines are told apart; of two of a kind
the newer counts.

Needs Python 3.11 and matplotlib 3.6. Exit status: 0; 2 with one line on standard error that says what is wrong.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is


class Refused(Exception):
    """What ends the program with status 2; the message is a sentence."""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(f"{message} (report.py --help shows what can be asked)")


def arguments(typed: list[str]) -> argparse.Namespace:
    parser = Parser(prog="report.py", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("records", metavar="RECORD.json", nargs="+")
    parser.add_argument("--out", metavar="FOLDER", help="where index.html and summary.md go; made where it is missing")
    parser.add_argument("--picture", metavar="FILE.svg", help="the README's picture")
    asked = parser.parse_args(typed)
    if asked.out is None and asked.picture is None:
        parser.error("--out or --picture says where to write")
    if asked.picture is not None and not asked.picture.endswith(".svg"):
        parser.error(f"--picture draws SVG: {asked.picture} does not end in .svg")
    return asked


def write(path: str, words: str) -> None:
    unfinished = path + ".part"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(words)
        os.replace(unfinished, path)
    except OSError as problem:
        raise Refused(f"{path}: cannot be written: {problem.strerror}") from problem


def run(typed: list[str]) -> None:
    asked = arguments(typed)
    try:
        import matplotlib
    except ImportError as problem:
        raise Refused("the report needs matplotlib (Debian: python3-matplotlib), and there is none") from problem
    if tuple(int(part) for part in matplotlib.__version__.split(".")[:2]) < (3, 6):
        raise Refused(f"the report needs matplotlib 3.6 or newer, and this is {matplotlib.__version__}")
    import records

    try:
        machines, sentences = records.machines([record for path in asked.records for record in records.load(path)])
    except records.NoRecord as problem:
        raise Refused(str(problem)) from problem
    import page  # which draws, and takes half a second to load: not for what is refused
    import picture

    if asked.out is not None:
        try:
            os.makedirs(asked.out, exist_ok=True)
        except OSError as problem:
            raise Refused(f"{asked.out}: cannot be made a folder: {problem.strerror}") from problem
        report = page.Report(machines, sentences)
        write(os.path.join(asked.out, "index.html"), page.html(report))
        write(os.path.join(asked.out, "summary.md"), page.markdown(report))
        print("\n".join(page.brief(report)))
    if asked.picture is not None:
        drawn = picture.picture(machines)
        if drawn is None:
            raise Refused("--picture needs a record of a sweep on a GPU (onefold-perf sweep --json), and there is none")
        write(asked.picture, drawn)
    for sentence in sentences:
        print(f"report.py: {sentence}", file=sys.stderr)


def main() -> int:
    try:
        run(sys.argv[1:])
    except Refused as problem:
        print("report.py: " + " ".join(str(problem).split()), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
