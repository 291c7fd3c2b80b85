#!/usr/bin/env python3
"""W21: single operations of a client at 0, 1 and 10 ms a round trip: PolyStore's objects beside code on psycopg 3 that was written by hand for each operation.

    clients.py            10,000 persons
    clients.py --short    1,000 persons
    clients.py --no-build use the program bench that POLYSTORE_RELEASE names the folder of

Starts a server that syncs its log. The latency is that of a proxy on Unix sockets. Installs psycopg into a temporary folder, which is removed at the end. The tables of psycopg are copies of
PolyStore's, with the same indexes. Prints the medians of the elapsed times in milliseconds, and the round trips that follow from the least times at 1 and 10 ms.
"""

import argparse
import dataclasses
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from driver import programs
from writers import Run, build_delay

LATENCIES = (0, 1, 10)
REPETITIONS = 16
CALLERS, COMMITS, CONNECTIONS = 64, 640, 20
TITLES = {
    "get": "fetch one by id", "fetch": "fetch 1,000 in an order", "related": "100 with their departments", "insert": "insert 1,000", "update": "fetch and update 1,000",
    "commit": "a durable commit of one with its department", "commitAlone": "a durable commit of one without", "callers": "64 callers, commits with departments",
    "callersAlone": "64 callers, commits without"}
# The transactions of PolyStore that read a department; to psycopg it is a number.
SAME = {"commitAlone": "commit", "callersAlone": "callers"}
COLUMNS = ["name", "email", "age", "score", "isActive", "createdAt", "notes", "department"]
LIST = ", ".join('"%s"' % name for name in ["objectID"] + COLUMNS)


@dataclasses.dataclass(slots=True)
class Person:
    objectID: int
    name: str
    email: str
    age: int
    score: float
    isActive: bool
    createdAt: float
    notes: str
    department: int
    departmentName: str = ""


def install(folder):
    """Installs psycopg into a folder and makes it importable."""
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", folder, "--root-user-action=ignore", "psycopg[binary]", "psycopg_pool"], check=True)
    sys.path.insert(0, folder)


class Client:
    """The operations on psycopg. Each is one transaction; a single statement is one without BEGIN and COMMIT."""

    numbers = itertools.count(1)

    def __init__(self, address):
        import psycopg
        from psycopg.rows import class_row
        self.address = address
        self.connection = psycopg.connect(address, autocommit=True)
        self.rows = class_row(Person)
        self.ids = [row[0] for row in self.connection.execute('SELECT "objectID" FROM psycopg."Person" ORDER BY 1 LIMIT 1000')]
        self.insertion = 'INSERT INTO psycopg."Person" (%s) VALUES (%s)' % (
            ", ".join('"%s"' % name for name in COLUMNS), ", ".join(["%s"] * len(COLUMNS)))

    def cursor(self):
        return self.connection.cursor(row_factory=self.rows)

    def row(self):
        number = next(self.numbers)
        return ("Name %d" % number, "person%d@psycopg.example.com" % number, number % 100, number / 8, number % 2 == 0, 6e8 + number, "words " * 17, number % 10 + 1)

    def get(self, repetition):
        with self.cursor() as cursor:
            return cursor.execute('SELECT %s FROM psycopg."Person" WHERE "objectID" = %%s' % LIST, [self.ids[repetition * 37 % len(self.ids)]]).fetchone()

    def fetch(self, _):
        with self.cursor() as cursor:
            return cursor.execute('SELECT %s FROM psycopg."Person" ORDER BY age NULLS FIRST, "objectID" LIMIT 1000' % LIST).fetchall()

    def related(self, _):
        listed = ", ".join("p." + name for name in LIST.split(", "))
        with self.cursor() as cursor:
            return cursor.execute(
                'SELECT %s, d.name AS "departmentName" FROM psycopg."Person" p LEFT JOIN psycopg."Department" d ON d."objectID" = p.department '
                'ORDER BY p.age NULLS FIRST, p."objectID" LIMIT 100' % listed).fetchall()

    def insert(self, _):
        rows = [self.row() for _ in range(1000)]
        # The statements of a pipeline, with BEGIN and COMMIT.
        with self.connection.pipeline(), self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(self.insertion, rows)

    def update(self, _):
        with self.connection.pipeline(), self.connection.transaction(), self.cursor() as cursor:
            people = cursor.execute('SELECT %s FROM psycopg."Person" WHERE "objectID" = ANY(%%s) FOR UPDATE' % LIST, [self.ids]).fetchall()
            cursor.executemany('UPDATE psycopg."Person" SET score = %s WHERE "objectID" = %s', [(person.score + 1, person.objectID) for person in people])

    def commit(self, _):
        self.connection.execute(self.insertion, self.row())

    def callers(self):
        """Returns the seconds for each commit of many threads that share a pool."""
        from psycopg_pool import ConnectionPool
        with ConnectionPool(self.address, min_size=CONNECTIONS, max_size=CONNECTIONS, kwargs={"autocommit": True}) as pool:
            pool.wait()
            lock = threading.Lock()

            def work():
                for _ in range(COMMITS // CALLERS):
                    with lock:
                        row = self.row()
                    with pool.connection() as connection:
                        connection.execute(self.insertion, row)

            threads = [threading.Thread(target=work) for _ in range(CALLERS)]
            start = time.monotonic()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return (time.monotonic() - start) / COMMITS

    def measure(self):
        found = {}
        for name in TITLES:
            if name in SAME:
                found[name] = found[SAME[name]]
                found[name + " least"] = found.get(SAME[name] + " least")
                continue
            if name == "callers":
                found[name] = self.callers()
                continue
            times = []
            for repetition in range(REPETITIONS):
                start = time.monotonic()
                getattr(self, name)(repetition)
                times.append(time.monotonic() - start)
            # As in PolyStore's program, the first one is not counted.
            found[name] = statistics.median_high(times[1:])
            found[name + " least"] = min(times[1:])
        self.connection.close()
        return found


def polystore(run, latency, rows, process):
    environment = dict(os.environ, PB_N=str(rows), PB_CALLERS=str(CALLERS), PB_COMMITS=str(COMMITS), PB_PROCESS=str(process), **run.environment(latency))
    text = subprocess.run(
        programs.command("PolyStore-postgresql", "W21", run.server.folder), env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = [json.loads(line) for line in text.splitlines()]
    found = {line["workload"].removeprefix("W21-"): line["seconds"] for line in lines}
    found.update({line["workload"].removeprefix("W21-") + " least": line["leastNanoseconds"] / 1e9 for line in lines if "leastNanoseconds" in line})
    for name in ("callers", "callersAlone"):
        found[name] /= COMMITS
    return found


def prepare(server, rows):
    """Creates the tables of both."""
    subprocess.run(
        programs.command("PolyStore-postgresql", "W1", server.folder), env=dict(os.environ, PB_N=str(rows), **server.environment()), check=True,
        stdout=subprocess.DEVNULL)
    server.psql(
        """
        CREATE SCHEMA psycopg;
        CREATE TABLE psycopg."Person" (LIKE polystore."Person" INCLUDING ALL); CREATE TABLE psycopg."Department" (LIKE polystore."Department" INCLUDING ALL);
        INSERT INTO psycopg."Department" TABLE polystore."Department"; INSERT INTO psycopg."Person" TABLE polystore."Person";
        CREATE SEQUENCE psycopg.ids START 100000000; ALTER TABLE psycopg."Person" ALTER "objectID" SET DEFAULT nextval('psycopg.ids');
        """)
    server.psql("VACUUM ANALYZE")


def trips(times):
    """Returns the round trips by which the least times at the second and the third latency differ."""
    return (times[2] - times[1]) / (LATENCIES[2] - LATENCIES[1]) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--no-build", action="store_true")
    options = parser.parse_args()
    if not options.no_build:
        programs.build(["PolyStore-postgresql"])
    build_delay()
    folder = tempfile.mkdtemp(prefix="psycopg-")
    rows = 1000 if options.short else 10_000
    run = Run()
    try:
        install(folder)
        prepare(run.server, rows)
        mine, theirs = [], []
        for number, latency in enumerate(LATENCIES):
            mine.append(polystore(run, latency, rows, number))
            theirs.append(Client(run.environment(latency)["PB_POSTGRESQL"]).measure())
        print("| elapsed, ms | %s | round trips |" % " | ".join("PolyStore, %d ms | psycopg" % latency for latency in LATENCIES))
        print("|---|" + "---|" * (2 * len(LATENCIES) + 1))
        for name, title in TITLES.items():
            cells = ["%.2f" % (1000 * side[number][name]) for number in range(len(LATENCIES)) for side in (mine, theirs)]
            cells.append("" if "callers" in name else "%.1f, %.1f" % tuple(trips([times[name + " least"] for times in side]) for side in (mine, theirs)))
            print("| %s | %s |" % (title, " | ".join(cells)))
    finally:
        run.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
