"""The results of all runs, and the report."""
import json
import threading
import time

KILLED = ("killed", "hung")
FINAL = (*KILLED, "survived", "timed out")


class Results:
    """The results of all runs, one JSON object per line."""

    def __init__(self, path, revision):
        self.path = path
        self.revision = revision
        self.lock = threading.Lock()
        self.found = {}
        self.baselines = []
        if path.exists():
            for line in path.read_text().split("\n"):
                try:
                    # The last line may be incomplete if the runner was killed.
                    self.add(json.loads(line))
                except ValueError:
                    pass

    def add(self, record):
        if record["revision"] != self.revision:
            return
        if "baseline" in record:
            self.baselines.append(record)
        else:
            self.found[record["entry"]] = record

    def save(self, record):
        record = {"revision": self.revision, **record, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        with self.lock:
            self.add(record)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def save_mutant(self, mutant, record):
        self.save({"mutant": mutant.id, "entry": mutant.entry, **record})

    def of(self, mutant):
        """Returns the record of a mutant; None if it was not run on this revision."""
        return self.found.get(mutant.entry)


def sentence(record):
    """Returns an outcome in words, such as `killed by TEST in 12 s`."""
    outcome = record["outcome"]
    if outcome not in FINAL:
        return f"{outcome}: {record['by']}"
    seconds = f"{record['seconds']:.0f} s"
    text = {
        "killed": f"killed by {record['by']} in {seconds}",
        "hung": f"hung after {seconds} ({record['by']})",
    }.get(outcome, f"{outcome} after {seconds}")
    return text + (f", ring {record['stage']}" if record["stage"] not in ("modules", "all") else "")


def totals(mutants, results):
    counts = {}
    for mutant in mutants:
        record = results.of(mutant)
        outcome = record["outcome"] if record else "not run"
        counts[outcome] = counts.get(outcome, 0) + 1
    order = [*FINAL, "does not apply", "does not compile", "not run"]
    parts = ", ".join(f"{counts[outcome]} {outcome}" for outcome in order if outcome in counts)
    return f"{len(mutants)} mutants: {parts}"


def report(mutants, results):
    lines = [f"# Mutants of {results.revision}", "", "| mutant | defect | outcome |", "|---|---|---|"]
    for mutant in mutants:
        record = results.of(mutant)
        outcome = (sentence(record) if record else "not run").replace("|", "\\|")
        lines.append(f"| {mutant.id} | {mutant.defect} | {outcome} |")
    return "\n".join([*lines, "", totals(mutants, results) + ".", ""])
