#!/usr/bin/env python3
"""Opens an atlas of the demo with plain SQLite, and compares it with its data files.

usage: check_sqlite.py atlas.db DATA_FOLDER
"""
import csv
import json
import pathlib
import sqlite3
import sys

store, data = sys.argv[1], pathlib.Path(sys.argv[2])
db = sqlite3.connect(store)


def check(what, found, expected):
    if found != expected:
        sys.exit(f"FAILED {what}: found {found!r}, expected {expected!r}")


def columns(table):
    return [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]


def one(sql, *values):
    return db.execute(sql, values).fetchone()[0]


continents = json.loads((data / "continents.json").read_text())
countries = json.loads((data / "countries.json").read_text())
cities = json.loads((data / "cities.json").read_text())
with open(data / "airports.csv", newline="") as file:
    airports = list(csv.DictReader(file))

check("integrity", one("PRAGMA integrity_check"), "ok")
check("columns of Continent", columns("Continent"), ["objectID", "code", "name"])
check("columns of City", columns("City"), ["objectID", "geonameID", "name", "latitude", "longitude", "population", "timeZone", "alternateNames", "isCapital", "country"])
for table, rows in [("Continent", continents), ("Country", countries), ("City", cities), ("Airport", airports)]:
    check(f"count of {table}", one(f"SELECT count(*) FROM {table}"), len(rows))
pairs = {(c["iso"], n) for c in countries for n in c["neighbours"]}
pairs |= {(b, a) for a, b in pairs}
found = set(db.execute("SELECT a.iso, b.iso FROM Country_neighbours n JOIN Country a ON a.objectID = n.source JOIN Country b ON b.objectID = n.target"))
check("neighbours", found, pairs)
for city in cities[::97]:
    row = db.execute(
        "SELECT City.name, latitude, longitude, City.population, iso, alternateNames FROM City JOIN Country ON Country.objectID = country WHERE geonameID = ?",
        (city["geonameid"],),
    ).fetchone()
    check(f"city {city['geonameid']}", row[:5], (city["name"], city["latitude"], city["longitude"], city["population"], city["countrycode"]))
    check(f"other names of {city['geonameid']}", json.loads(row[5]), city["alternatenames"])
for airport in airports[::97]:
    row = db.execute("SELECT Airport.name, elevationFeet, iso FROM Airport JOIN Country ON Country.objectID = country WHERE code = ?", (airport["icao"],)).fetchone()
    check(f"airport {airport['icao']}", row, (airport["name"], float(airport["elevation"]), airport["country"]))
print(f"interop: plain SQLite finds {len(cities)} cities, {len(airports)} airports and {len(pairs)} neighbours as they are in the files")
