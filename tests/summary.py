#!/usr/bin/env python3
"""Adds up what a run of ctest did: summary.py BUILD_TREE

Reads BUILD_TREE/ctest.xml (ctest --output-junit) and, of every test that is a GoogleTest program, the XML that it wrote; of Python's
unittest, the counts that it printed. Prints the failures, the reasons of the skips and, as the last line, the counts.
Exit status: 0 when tests passed and none failed.
"""

import collections
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


class Totals:
    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = collections.Counter()

    def add_gtest(self, path):
        """Counts the cases of one GoogleTest XML; returns how many failed, or None where there are no cases."""
        failed = 0
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
        if not cases:
            return None
        for case in cases:
            name = f"{case.get('classname')}.{case.get('name')}"
            if case.find("failure") is not None:
                self.failures.append(name)
                failed += 1
            elif case.get("result") == "skipped":
                skipped = case.find("skipped")
                self.skips[reason_of(skipped.get("message") if skipped is not None else None)] += 1
            elif case.get("status") == "run":
                self.passed += 1
        return failed

    def add_unittest(self, name, output):
        """Counts what Python's unittest printed; returns how many failed, or None where it printed nothing."""
        ran = re.search(r"^Ran (\d+) tests? in ", output, re.MULTILINE)
        verdict = re.search(r"^(?:OK|FAILED)(?: \((.*)\))?\s*$", output, re.MULTILINE)
        if not ran or not verdict:
            return None
        counts = {word: int(count) for word, count in re.findall(r"([a-z ]+)=(\d+)", verdict.group(1) or "")}
        counts = {word.strip(): count for word, count in counts.items()}
        failed = counts.get("failures", 0) + counts.get("errors", 0) + counts.get("unexpected successes", 0)
        skipped = counts.get("skipped", 0)
        reasons = re.findall(r"\.\.\. skipped ['\"](.*)['\"]$", output, re.MULTILINE)
        self.skips.update(reasons or {f"{name} prints its reasons with -v": skipped} if skipped else {})
        self.failures += re.findall(r"^(?:FAIL|ERROR): (.*)$", output, re.MULTILINE)[:failed]
        self.passed += max(0, int(ran.group(1)) - failed - skipped)
        return failed


def reason_of(message):
    """GoogleTest puts file and line before the reason."""
    lines = [line.strip() for line in (message or "").splitlines() if line.strip()]
    if lines and re.search(r":\d+$", lines[0]):
        lines = lines[1:]
    return " ".join(lines) or "no reason given"


def gtest_reports(tree):
    """The XML that each test of the tree writes, where it writes one."""
    listed = subprocess.run(["ctest", "--test-dir", tree, "--show-only=json-v1"], check=True, capture_output=True, text=True)
    reports = {}
    for test in json.loads(listed.stdout)["tests"]:
        properties = {item["name"]: item["value"] for item in test.get("properties", [])}
        words = test.get("command", []) + [word.replace("GTEST_OUTPUT=", "--gtest_output=") for word in properties.get("ENVIRONMENT", [])]
        for word in words:
            if word.startswith("--gtest_output=xml:"):
                path = os.path.join(properties.get("WORKING_DIRECTORY", tree), word.split(":", 1)[1])
                if path.endswith("/"):
                    path += os.path.basename(test["command"][0]) + ".xml"
                reports[test["name"]] = path
    return reports


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    tree = os.path.abspath(sys.argv[1])
    totals = Totals()
    reports = gtest_reports(tree)

    for test in ElementTree.parse(os.path.join(tree, "ctest.xml")).getroot().iter("testcase"):
        name = test.get("name")
        status = test.get("status")
        skipped = test.find("skipped")
        skip_reason = skipped.get("message") if skipped is not None else None
        if status == "disabled" or (status == "notrun" and (skip_reason or "").startswith("SKIP_")):
            totals.skips[f"{name}: {skip_reason or 'disabled'}"] += 1
            continue
        failed = None
        if name in reports:
            if os.path.exists(reports[name]):
                failed = totals.add_gtest(reports[name])
            if failed is None and status == "run":
                # Its filter fits nothing any more, or it has ended before its last case.
                totals.failures.append(f"{name} (no case was run)")
                continue
        elif name not in reports:
            failed = totals.add_unittest(name, test.findtext("system-out") or "")
        if status != "run" and not failed:
            # It crashed, ran out of time, did not start, or failed after its last case.
            totals.failures.append(f"{name} ({skip_reason or 'the program failed'})")
        elif failed is None:
            totals.passed += 1

    print()
    for failure in totals.failures[:50]:
        print(f"FAILED   {failure}")
    if len(totals.failures) > 50:
        print(f"FAILED   and {len(totals.failures) - 50} more")
    for reason, count in totals.skips.most_common():
        print(f"skipped  {count} x {reason}")
    print(f"{totals.passed} passed, {len(totals.failures)} failed, {sum(totals.skips.values())} skipped")
    return 0 if totals.passed and not totals.failures else 1


if __name__ == "__main__":
    sys.exit(main())
