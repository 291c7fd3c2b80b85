"""A chart of all ratios as SVG: a group of bars for each workload, a bar for each engine, a line at the target."""

import math

from . import bars

COLORS = {"sqlite": "#4a8fd9", "lmdb": "#3aa675", "leveldb": "#d98f3a", "memory": "#a86fd0"}
WIDTH, LEFT, TOP, PLOT, BOTTOM = 980, 46, 58, 300, 44
LEAST, MOST = 0.2, 10.0

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #3a3f45 }
.small { font-size: 11px }
.grid { stroke: #9aa3ad; stroke-opacity: .35 }
.one { stroke: #6b747e; stroke-width: 1.5 }
.bar { stroke: #1c1f23; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #d5dae0 } .one { stroke: #aab3bd } .bar { stroke: #f2f4f6 } }
"""


def svg(results):
    workloads = [w for w in bars.TITLES if any(value(results, engine, w) for engine in bars.ENGINES)]
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">' % (WIDTH, TOP + PLOT + BOTTOM),
        "<title>CPU time of PolyStore's objects over raw code on the same engine</title>", "<style>%s</style>" % STYLE,
        '<text x="%d" y="20" font-weight="600">CPU time of PolyStore\'s objects, as a multiple of raw code on the same engine (%s rows)</text>'
        % (LEFT, format(results.rows, ",")),
    ]
    x = LEFT
    for engine in bars.ENGINES:
        out.append('<rect x="%d" y="32" width="12" height="12" fill="%s"/>' % (x, COLORS[engine]))
        out.append('<text x="%d" y="42">%s over %s</text>' % (x + 17, engine, bars.RAW[engine]))
        x += 130
    out.append('<line class="bar" x1="%d" x2="%d" y1="38" y2="38"/><text x="%d" y="42">bar to reach</text>' % (x, x + 14, x + 20))
    for tick in (0.2, 0.5, 1, 2, 5, 10):
        y = height(tick)
        out.append('<line class="%s" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>' % ("one" if tick == 1 else "grid", LEFT, WIDTH - 8, y, y))
        out.append('<text class="small" x="%d" y="%.1f" text-anchor="end">%g</text>' % (LEFT - 6, y + 4, tick))
    step = (WIDTH - 8 - LEFT) / max(1, len(workloads))
    for at, workload in enumerate(workloads):
        out += group(results, workload, LEFT + at * step, step)
    return "\n".join(out + ["</svg>"]) + "\n"


def value(results, engine, workload):
    return results.ratio("PolyStore-" + engine, workload, bars.RAW[engine], bars.raw_workload(engine, workload))


def height(ratio):
    """Returns the height on a logarithmic scale: twice as slow is as far up as twice as fast is down."""
    ratio = min(MOST, max(LEAST, ratio))
    return TOP + PLOT * (1 - math.log(ratio / LEAST) / math.log(MOST / LEAST))


def group(results, workload, x, step):
    out, width, one = [], step * 0.84 / len(bars.ENGINES), height(1)
    for at, engine in enumerate(bars.ENGINES):
        ratio = value(results, engine, workload)
        if ratio is None:
            continue
        left, y = x + step * 0.08 + at * width, height(ratio)
        out.append(
            '<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s %s: %.2f</title></rect>'
            % (left, min(y, one), width - 1, max(1, abs(y - one)), COLORS[engine], workload, engine, ratio))
        bar = bars.RATIOS[engine].get(workload)
        if bar:
            out.append('<line class="bar" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>' % (left - 1, left + width, height(bar), height(bar)))
    words = bars.TITLES[workload].split(",")[0]
    middle = x + step / 2
    out.append('<text x="%.1f" y="%d" text-anchor="middle" font-weight="600">%s</text>' % (middle, TOP + PLOT + 18, workload))
    out.append('<text class="small" x="%.1f" y="%d" text-anchor="middle">%s</text>' % (middle, TOP + PLOT + 34, words if len(words) < 13 else words.split()[0]))
    return out
