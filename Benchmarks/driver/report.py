"""Formats the lines as Markdown tables."""

import math
import statistics

from . import bars


class Results:
    def __init__(self, lines):
        self.by = {}
        for line in lines:
            if "workload" in line:
                self.by.setdefault((line["kind"], line["peer"], line["workload"], line["rows"]), []).append(line)
        rows = [key[3] for key in self.by if key[0] == "turn"]
        self.rows = max(set(rows), key=rows.count) if rows else 0

    def turns(self, peer, workload, key, rows=None, kind="turn"):
        """Returns the median of each turn."""
        found = {}
        for line in self.by.get((kind, peer, workload, rows or self.rows), []):
            found.setdefault(line["turn"], []).append(line[key])
        return {turn: statistics.median(values) for turn, values in found.items()}

    def median(self, peer, workload, key="cpu", rows=None, kind="turn"):
        values = self.turns(peer, workload, key, rows, kind).values()
        return statistics.median(values) if values else None

    def ratio(self, peer, workload, other, other_workload=None, key="cpu"):
        """Returns the median of the ratios within each turn, so that temporary load cancels."""
        mine, theirs = self.turns(peer, workload, key), self.turns(other, other_workload or workload, key)
        ratios = [mine[turn] / theirs[turn] for turn in mine if theirs.get(turn)]
        return statistics.median(ratios) if ratios else None

    def sizes(self, peer, workload):
        """Returns the CPU seconds by number of rows, from turns and growth."""
        found = {}
        for kind, name, work, rows in self.by:
            if (name, work) == (peer, workload) and kind in ("turn", "growth"):
                found[rows] = self.median(peer, workload, "cpu", rows, kind)
        return found

    def exponent(self, peer, workload):
        """Returns the slope between the fewest and the most rows on logarithmic scales: 1 is proportional to the rows, 0 is independent of them."""
        sizes = self.sizes(peer, workload)
        if len(sizes) < 2:
            return None
        least, most = min(sizes), max(sizes)
        if not sizes[least] or not sizes[most]:
            return None
        return math.log(sizes[most] / sizes[least]) / math.log(most / least)

    def peak(self, peer, workload):
        kinds = ("turn", "alone") if workload[:3] in ("W2t", "W8c", "W12", "W13", "W14", "W15", "W16") else ("alone",)  # alone in turns too
        peaks = [line["peak_kb"] for key, lines in self.by.items() if key[0] in kinds and key[1:] == (peer, workload, self.rows) for line in lines]
        return max(peaks) / 1024 if peaks else None


def number(value, digits=3):
    if value is None:
        return "–"
    return "%.0f" % value if abs(value) >= 100 else "%.*g" % (digits, value)


def ratio(value):
    return "–" if value is None else "%.2f" % value


def verdict(value, bar):
    return "–" if value is None or bar is None else "yes" if value <= bar else "no"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(row) + " |" for row in rows])


def engine_table(results, engine):
    mine, raw = "PolyStore-" + engine, bars.RAW[engine]
    is_sqlite = engine == "sqlite"
    head = ["workload", "PolyStore ms", raw + " ms", "to " + raw, "bar", "reached"]
    head += (["to P4", "to P4b"] if is_sqlite else []) + ["peak MiB", "peak of " + raw, "growth", "growth of " + raw]
    rows = []
    for workload in bars.TITLES:
        cpu = results.median(mine, workload)
        if cpu is None:
            continue
        base = bars.raw_workload(engine, workload)
        value, bar = results.ratio(mine, workload, raw, base), bars.RATIOS[engine].get(workload)
        shown = "–" if bar is None else "%g" % bar
        reached = verdict(value, bar)
        if workload == "W12" and engine in bars.OPENING:
            shown, wall = "%g ms" % bars.OPENING[engine], results.median(mine, workload, "seconds")
            reached = verdict(wall * 1000, bars.OPENING[engine])
        theirs = results.median(raw, base)
        row = [workload + " " + bars.TITLES[workload], number(cpu * 1000), number(theirs and theirs * 1000), ratio(value), shown, reached]
        if is_sqlite:
            row += [ratio(results.ratio(mine, workload, "P4")), ratio(results.ratio(mine, workload, "P4b"))]
        row += [number(results.peak(mine, workload)), number(results.peak(raw, workload))]
        row += [ratio(results.exponent(mine, workload)), ratio(results.exponent(raw, base))]
        rows.append(row)
    return table(head, rows)


def commit_table(results):
    head = ["program", "workload", "commits", "commits/s", "CPU µs each", "to P4, commits/s", "bar", "reached"]
    rows = []
    for workload in ("W8", "W8b", "W8c"):
        for peer in sorted({key[1] for key in results.by}):
            seconds = results.median(peer, workload, "seconds")
            if seconds is None:
                continue
            n = results.median(peer, workload, "n")
            base = results.ratio("P4", workload, peer, key="seconds")
            held = workload == "W8c" and peer.startswith("PolyStore-") and peer != "PolyStore-memory"
            reached = "–" if not held or base is None else "yes" if base >= bars.CONCURRENT else "no"
            rows.append([
                peer, workload, "%d" % n, number(n / seconds), number(results.median(peer, workload) / n * 1e6), ratio(base),
                "%g" % bars.CONCURRENT if held else "–", reached,
            ])
    return table(head, rows)


def memory_table(results):
    """Returns the table of M1 and M2, with their numbers of rows."""
    rows = []
    for (kind, peer, workload, count), lines in sorted(results.by.items()):
        if kind == "alone" and workload in ("M1", "M2", "W17"):
            line = lines[0]
            # The target applies to a million rows only.
            bar = {"M1": bars.WALK_PEAK, "W17": bars.PIPE_PEAK}.get(workload) if peer != "PolyStore-memory" and count >= 1_000_000 else None
            rows.append([
                peer, workload, "%d" % count, number(line["before_kb"] / 1024), number(line["anonymous_kb"] / 1024),
                number(line["peak_kb"] / 1024), "–" if bar is None else "%d" % bar, verdict(line["peak_kb"] / 1024, bar),
                number(line["cpu"] * 1000),
            ])
    return table(["program", "workload", "rows", "before MiB", "anonymous MiB", "peak MiB", "bar", "reached", "CPU ms"], rows)


def import_table(results):
    """Returns the table of W11i relative to the same work written by hand, and of W16 relative to inserting and decoding."""
    rows = []
    for engine in bars.ENGINES:
        mine = "PolyStore-" + engine
        cells = [results.median(mine, workload) for workload in ("W1", "W11s", "W11i", "W16d", "W16jr", "W16cr", "W16j", "W16c")]
        if not any(cells):
            continue
        value = results.ratio(mine, "W11i", mine, "W11s")
        row = [engine] + [number(cell and cell * 1000) for cell in cells] + [ratio(value), verdict(value, bars.IMPORTER)]
        for workload in ("W16j", "W16c"):
            first, decoder, imported = (results.turns(mine, name, "cpu") for name in ("W1", "W16d", workload))
            shares = [imported[turn] / (first[turn] + bars.DECODER * decoder[turn]) for turn in imported if turn in first and turn in decoder]
            share = statistics.median(shares) if shares else None
            row += [ratio(share), verdict(share, 1)]
        rows.append(row)
    head = ["engine", "W1 ms", "W11s ms", "W11i ms", "W16d ms", "W16jr ms", "W16cr ms", "W16j ms", "W16c ms", "W11i to W11s", "reached"]
    text = table(head + ["W16j to W1 + 1.5 W16d", "reached", "W16c to the same", "reached"], rows)
    for peer in ("P4", "P4b"):
        value = results.ratio(peer, "W11r", "PolyStore-sqlite", "W11i")
        if value is not None:
            text += "\n\nW11r of %s takes %s times W11i on SQLite (bar for P4b: %g)." % (peer, ratio(value), bars.ROW_BY_ROW)
    return text


def growth_table(results):
    """Returns the table of CPU milliseconds by number of rows."""
    counts = sorted({key[3] for key in results.by if key[0] in ("turn", "growth")})
    rows = []
    for engine in bars.ENGINES:
        for workload in bars.TITLES:
            sizes = results.sizes("PolyStore-" + engine, workload)
            if len(sizes) > 1:
                cells = [number(sizes[count] * 1000) if sizes.get(count) is not None else "–" for count in counts]
                rows.append([engine, workload + " " + bars.TITLES[workload]] + cells + [ratio(results.exponent("PolyStore-" + engine, workload))])
    return table(["engine", "workload"] + ["%d" % count for count in counts] + ["exponent"], rows)


def behind_grdb(results):
    """Returns the workloads in which PolyStore on SQLite misses its target against GRDB."""
    found = []
    for workload in bars.TITLES:
        hand, codable = (results.ratio("PolyStore-sqlite", workload, peer) for peer in ("P4", "P4b"))
        if hand is not None and hand > 1:
            found.append("%s (%.2f of P4)" % (workload, hand))
        if codable is not None and codable > bars.CODABLE.get(workload, 1):
            found.append("%s (%.2f of P4b, %.2f wanted)" % (workload, codable, bars.CODABLE.get(workload, 1)))
    return ", ".join(found) or "nowhere"


def markdown(results):
    turns = max((line["turn"] for key, lines in results.by.items() if key[0] == "turn" for line in lines), default=0)
    parts = ["%d rows, %d turns. CPU milliseconds, user and system, are medians; ratios are taken within each turn, then their median." % (results.rows, turns)]
    for engine in bars.ENGINES:
        if results.median("PolyStore-" + engine, "W2") is not None:
            parts.append("### %s\n\n%s" % (engine, engine_table(results, engine)))
    if results.median("P4", "W2") is not None:
        parts.append("Not ahead of GRDB on SQLite: %s." % behind_grdb(results))
    parts.append("### Commits\n\n" + commit_table(results))
    if any(key[0] == "turn" and key[2] in bars.IMPORTS for key in results.by):
        parts.append("### Imports\n\n" + import_table(results))
    if any(key[0] == "alone" for key in results.by):
        parts.append("### Memory\n\n" + memory_table(results))
    if any(key[0] == "growth" for key in results.by):
        parts.append("### Growth, CPU milliseconds by rows\n\n" + growth_table(results))
    return "\n\n".join(parts)
