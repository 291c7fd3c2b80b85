#!/usr/bin/env python3
"""Compares full-text indexes of many documents with FTS5: check.py DOCUMENTS [FOLDER]. FOLDER needs 5 KB a document; it is a temporary one if it is absent.

Both must find the same documents and the same best ten, and the best ten of two common terms must be found by scoring at most 5 % of their postings. It checks no times, but prints
those of run.sh.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"(.+): top 10 .* (\d+) documents, check (\d+)(?:, postings \d+, scored (\d+))?$")
WORDS = {"two terms": ["ba", "be"]}


def occurrences(corpus, word):
    """Returns the number of documents that contain a word: its postings."""
    return int(subprocess.run(["grep", "-cw", word, corpus], stdout=subprocess.PIPE, text=True, check=True).stdout)


def check(folder, documents):
    run = pathlib.Path(__file__).with_name("run.sh")
    answers = {}
    engine = ""
    with subprocess.Popen(["sh", run, folder, documents, "1000"], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.strip() in ("FTS5", "SQLite", "LMDB", "LevelDB"):
                engine = line.strip()
            if match := LINE.match(line.strip()):
                answers[engine, match[1]] = match.groups()[1:]
    failures = [f"run.sh ended with {process.returncode}"] if process.returncode else []
    queries = sorted({query for _, query in answers})
    if len(answers) != 4 * len(queries) or len(queries) < 6:
        failures.append(f"there are {len(answers)} answers of {len(queries)} queries")
    for engine, query in answers:
        if answers[engine, query][:2] != answers.get(("FTS5", query), ())[:2]:
            failures.append(f"{engine}, {query}: {answers[engine, query]}, FTS5: {answers.get(('FTS5', query))}")
    for query, words in WORDS.items():
        postings = sum(occurrences(pathlib.Path(folder) / "corpus", word) for word in words)
        for engine in ("SQLite", "LMDB", "LevelDB"):
            scored = int(answers.get((engine, query), (0, 0, postings))[2])
            print(f"{engine}, {query}: {scored:,} of {postings:,} postings were scored ({100 * scored / postings:.2f} %)")
            if scored * 20 > postings:
                failures.append(f"{engine}, {query}: more than 5 % of the postings were scored")
    for failure in failures:
        print(f"error: {failure}")
    return 1 if failures else 0


def main(values):
    if len(values) > 1:
        return check(values[1], values[0])
    with tempfile.TemporaryDirectory() as folder:
        return check(folder, values[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
