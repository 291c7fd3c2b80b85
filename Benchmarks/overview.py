#!/usr/bin/env python3
"""Draws the chart of the README from the table of SQLite in Benchmarks/RESULTS.md.

usage: Benchmarks/overview.py            writes Benchmarks/overview.svg
       Benchmarks/overview.py --check    fails if the file differs from the table
"""
import math
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
RESULTS, CHART = FOLDER / "RESULTS.md", FOLDER / "overview.svg"
WORKLOADS = ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10", "W11", "W13"]
SERIES = [("to P4", "GRDB, tuned by hand", "#4a8fd9"), ("to P1", "plain C", "#d98f3a")]
WIDTH, LEFT, RIGHT, TOP, ROW = 800, 208, 56, 66, 34
LEAST, MOST = 0.05, 2.0
TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2)
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #3a3f45 }
.small { font-size: 11px }
.grid { stroke: #9aa3ad; stroke-opacity: .35 }
.one { stroke: #6b747e; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #d5dae0 } .one { stroke: #aab3bd } }
"""


def table():
    """Returns the rows of the first table under the heading `### sqlite`: a dictionary by column for each workload."""
    section = RESULTS.read_text().split("\n### sqlite\n", 1)
    if len(section) != 2:
        sys.exit(f"FAILED {RESULTS} has no section '### sqlite'")
    lines = [line for line in section[1].split("\n### ", 1)[0].split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].split()[0]: dict(zip(cells[0], row)) for row in cells[2:]}


def position(ratio):
    ratio = min(MOST, max(LEAST, ratio))
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log(ratio / LEAST) / math.log(MOST / LEAST)


def svg(rows):
    bottom = TOP + ROW * len(WORKLOADS)
    title = "CPU time of PolyStore's objects on SQLite, as a multiple of GRDB and of C"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 30}" role="img">',
        f"<title>{title}</title>", f"<style>{STYLE}</style>",
        f'<text x="12" y="20" font-weight="600">{title} (100,000 rows; left of 1 is faster)</text>',
    ]
    x = 12
    for _, name, color in SERIES:
        out.append(f'<rect x="{x}" y="34" width="12" height="12" fill="{color}"/><text x="{x + 18}" y="44">compared with {name}</text>')
        x += 36 + 7 * len(f"compared with {name}")
    for tick in TICKS:
        kind = "one" if tick == 1 else "grid"
        out.append(f'<line class="{kind}" x1="{position(tick):.1f}" x2="{position(tick):.1f}" y1="{TOP - 6}" y2="{bottom}"/>')
        out.append(f'<text class="small" x="{position(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>')
    for number, workload in enumerate(WORKLOADS):
        y = TOP + ROW * number
        name = re.sub(r"&", "&amp;", rows[workload]["workload"])
        out.append(f'<text x="{LEFT - 8}" y="{y + 18}" text-anchor="end">{name}</text>')
        for at, (column, other, color) in enumerate(SERIES):
            ratio = float(rows[workload][column])
            # A bar begins at 1, so half the time is as long to the left as twice the time is to the right.
            end, one, top = position(ratio), position(1), y + 2 + 13 * at
            start, anchor, label = (end, "end", end - 5) if end < one else (one, "start", end + 5)
            out.append(
                f'<rect x="{start:.1f}" y="{top}" width="{max(1.5, abs(end - one)):.1f}" height="12" fill="{color}">'
                f"<title>{name}, {other}: {ratio:g}</title></rect>")
            out.append(f'<text class="small" x="{label:.1f}" y="{top + 10}" text-anchor="{anchor}">{ratio:.2f}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    chart = svg(table())
    if "--check" not in sys.argv[1:]:
        CHART.write_text(chart)
    elif not CHART.exists() or CHART.read_text() != chart:
        sys.exit("FAILED Benchmarks/overview.svg does not show the figures of Benchmarks/RESULTS.md; run Benchmarks/overview.py")
    else:
        print("the chart of the README shows the figures of Benchmarks/RESULTS.md")


main()
