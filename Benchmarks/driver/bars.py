"""The targets: PolyStore's CPU time divided by that of the raw program on the same engine."""

TITLES = {
    "W1": "insert all, 3 indexes", "W2": "fetch all", "W2t": "fetch all, own thread", "W3": "get by id", "W4": "range, order, limit", "W5": "count, unindexed",
    "W6": "group by", "W7": "update a tenth", "W8": "durable commits", "W8b": "relaxed commits", "W8c": "durable commits, 64 callers",
    "W9": "delete a tenth", "W10": "to-many", "W11": "import unique", "W12": "open, first fetch", "W13": "list kept current",
    "W14": "atlas: import", "W14n": "atlas: neighbours", "W14p": "atlas: places", "W15": "YCSB: load", "W15A": "YCSB A: 50/50 update",
    "W15B": "YCSB B: 95/5 update", "W15C": "YCSB C: read", "W15D": "YCSB D: read latest", "W15E": "YCSB E: scans",
    "W15F": "YCSB F: read, change, write", "M1": "walk in batches", "M2": "import in transactions",
}
# Imports, in a separate table.
IMPORTS = {
    "W11s": "import unique, by hand", "W11i": "import unique, importer", "W11r": "import unique, row by row", "W16d": "JSONDecoder alone",
    "W16jr": "JSON Lines read", "W16cr": "CSV read", "W16j": "JSON Lines imported", "W16c": "CSV imported", "W17": "import from a pipe",
}

# The program that each engine is compared with.
RAW = {"sqlite": "P1", "lmdb": "P2", "leveldb": "P3", "memory": "P7"}
ENGINES = list(RAW)

RATIOS = {
    "sqlite": {"W1": 1.2, "W2": 1.3, "W3": 1.3, "W4": 1.2, "W5": 1.05, "W6": 0.6, "W7": 1.3, "W8": 1.3, "W9": 1.3, "W10": 1.25, "W11": 1.4},
    "lmdb": {"W1": 1.4, "W2": 2.2, "W3": 2, "W4": 1.8, "W5": 1.3, "W6": 1.3, "W7": 1.5, "W8": 1.3, "W9": 1.5, "W10": 1.8, "W11": 1.6},
    "leveldb": {
        "W1": 1.3, "W2": 1.5, "W3": 1.4, "W4": 1.3, "W5": 1.1, "W6": 1.1, "W7": 1.3, "W8": 1.3, "W9": 1.3, "W10": 1.3, "W11": 1.4, "W12": 2,
    },
    "memory": {"W1": 3, "W2": 2, "W3": 2, "W4": 2, "W5": 2, "W6": 1.5, "W7": 3, "W9": 3, "W10": 2, "W11": 3},
}
# In milliseconds of elapsed time, instead of a ratio.
OPENING = {"sqlite": 3.0, "lmdb": 2.0}
# Commits per second of elapsed time, divided by those of P4.
CONCURRENT = 10.0
# MiB for a scan of a million rows.
WALK_PEAK = 64
# MiB for an import of a million rows from a pipe.
PIPE_PEAK = 150
# W11i over W11s; W11r of P4b over W11i on SQLite; the limit of W16 in addition to W1, as a multiple of W16d.
IMPORTER, ROW_BY_ROW, DECODER = 1.15, 8, 1.5
# SQLite, over P4b: fetch and get by id.
CODABLE = {"W2": 1 / 3, "W3": 1 / 25}


def raw_workload(engine, workload):
    """Returns the name of the workload in the raw program. Returning living objects costs nothing, so W2 in memory is compared with new ones."""
    if workload in ("W2", "W2t"):
        return "W2c" if engine == "memory" else "W2"
    return workload
