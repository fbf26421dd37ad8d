"""The colours of the page and its charts, for light and for dark.

Charts are drawn once, in stand-ins: colours that nothing else has and that svg.py replaces by CSS variables, so that one picture serves
both. The hues are near those of Okabe and Ito, made darker for white paper and lighter for a dark screen until each has a contrast of 3 to 1
with its background and colour-blind readers tell onefold, peers and lectures apart (tests/perf/report_test.py has both). Each also has a mark
and a dash of its own.
"""

LIGHT = {
    "ink": "#1b1f24",
    "muted": "#59636e",
    "grid": "#e3e7eb",
    "paper": "#ffffff",
    "limit": "#3d4650",
    "onefold": "#0067b0",
    "peer": "#c44e00",
    "lecture": "#008f5d",
    "other1": "#a8467d",
    "other2": "#8a6900",
    "other3": "#2a8bb8",
    "other4": "#6b53a8",
}

DARK = {
    "ink": "#e8ebee",
    "muted": "#a3adb8",
    "grid": "#333b44",
    "paper": "#14181d",
    "limit": "#c5cdd5",
    "onefold": "#58a6ff",
    "peer": "#ff8f45",
    "lecture": "#4fd69a",
    "other1": "#ea9ac8",
    "other2": "#e3c04a",
    "other3": "#9bd3ea",
    "other4": "#b9a6f2",
}

STAND_INS = {role: f"#0102{place:02x}" for place, role in enumerate(LIGHT, start=16)}


def css_variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{role}: {colour};" for role, colour in colours.items())
