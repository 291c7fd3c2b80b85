#!/usr/bin/env python3
"""W19: the cost of a migration, compared with the same work on the same engine without the framework.

    migrations.py                        1,000,000 contacts in SQLite, LMDB and LevelDB
    migrations.py --size 100000          fewer

`light` adds an attribute with a default, removes another and widens a third. Raw SQLite does it by ALTER TABLE.
`heavy` converts an attribute of every contact. Raw SQLite does it by INSERT … SELECT into a table with the same indexes; raw LMDB reads every pair of a store of as
many contacts and writes it to another one. Prints a Markdown table of CPU seconds; the peak is of the whole process.
"""

import argparse
import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile

from driver import programs

INDEXES = [
    "CREATE UNIQUE INDEX {0}_email ON {0} (email)", "CREATE INDEX {0}_age ON {0} (age)",
    "CREATE INDEX {0}_departmentNumber ON {0} (departmentNumber)",
]


def cpu(body):
    def now():
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    start = now()
    body()
    return now() - start


def raw_sqlite(folder, size):
    """Returns the CPU seconds of the statements that correspond to the two migrations."""
    connection = sqlite3.connect(os.path.join(folder, "raw.sqlite"), isolation_level=None)
    run = connection.execute
    run("PRAGMA journal_mode = WAL")
    run("PRAGMA synchronous = FULL")

    def create(table, columns):
        run("CREATE TABLE %s (objectID INTEGER PRIMARY KEY, %s) STRICT" % (table, columns))
        for index in INDEXES:
            run(index.format(table))

    rest = "email TEXT NOT NULL, age INTEGER NOT NULL, isActive INTEGER NOT NULL, createdAt REAL NOT NULL, notes TEXT NOT NULL, departmentNumber INTEGER NOT NULL"
    create("light", "legacy INTEGER NOT NULL, name TEXT NOT NULL, " + rest)
    create("heavy", "name INTEGER NOT NULL, score REAL NOT NULL, " + rest)
    run("BEGIN")
    connection.executemany(
        "INSERT INTO light VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((n, n % 2, "name %d" % n, "email %d" % n, n % 2, n % 2, float(n), "notes %d" % n, n % 2) for n in range(1, size + 1)))
    connection.executemany(
        "INSERT INTO heavy VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((n, n % 2, float(n), "email %d" % n, n % 2, n % 2, float(n), "notes %d" % n, n % 2) for n in range(1, size + 1)))
    run("COMMIT")
    run("PRAGMA wal_checkpoint(TRUNCATE)")

    def light():
        run("BEGIN IMMEDIATE")
        run("ALTER TABLE light ADD COLUMN score REAL NOT NULL DEFAULT 0")
        run("ALTER TABLE light DROP COLUMN legacy")
        run("COMMIT")

    def heavy():
        run("BEGIN IMMEDIATE")
        run("CREATE TABLE moved (objectID INTEGER PRIMARY KEY, name TEXT NOT NULL, score REAL NOT NULL, %s) STRICT" % rest)
        run("INSERT INTO moved SELECT objectID, CAST(name AS TEXT), score, email, age, isActive, createdAt, notes, departmentNumber FROM heavy ORDER BY objectID")
        run("DROP TABLE heavy")
        for index in INDEXES:
            run(index.format("moved"))
        run("COMMIT")

    return {"light": cpu(light), "heavy": cpu(heavy)}


def raw_lmdb(folder):
    """Returns the CPU seconds for copying every pair of a store with as many contacts, none of them rewritten, so that each is stored once."""
    program = programs.compiled("migrate_lmdb", "-llmdb")
    found = subprocess.run(
        [program, os.path.join(folder, "light.lmdb"), os.path.join(folder, "copy.lmdb")], check=True, stdout=subprocess.PIPE, text=True)
    return float(found.stdout.split(",")[1].split()[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="+", default=["sqlite", "lmdb", "leveldb"])
    options = parser.parse_args()
    print("| engine | rows | light | light, wall | raw | heavy | raw | ratio | peak, MiB |\n|---|---|---|---|---|---|---|---|---|", flush=True)
    for engine in options.engines:
        folder = tempfile.mkdtemp(prefix="migrations-")
        try:
            programs.bench(engine, "W19make", folder, options.size)
            light = programs.bench(engine, "W19light", folder, options.size)
            heavy = programs.bench(engine, "W19heavy", folder, options.size)
            raw = raw_sqlite(folder, options.size) if engine == "sqlite" else {"heavy": raw_lmdb(folder)} if engine == "lmdb" else {}
            ratio = "%.2f" % (heavy["cpu"] / raw["heavy"]) if raw else "–"
            print(
                "| %s | %d | %.4f | %.4f | %s | %.2f | %s | %s | %.1f |" % (
                    engine, options.size, light["cpu"], light["seconds"], "%.4f" % raw["light"] if "light" in raw else "–", heavy["cpu"],
                    "%.2f" % raw["heavy"] if raw else "–", ratio, heavy["peak_kb"] / 1024), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


main()
