/// A database with what a schema does not express, and with values that do not have the declared types.
enum OddDatabase {
    static let statements = [
        // Names and values.
        "CREATE TABLE \"quote\"\"d 'table'\" (\"a\"\"b\" TEXT, [c d] INTEGER, `select` REAL)",
        "INSERT INTO \"quote\"\"d 'table'\" VALUES ('x' || char(0) || 'y', 9223372036854775807, 1e308), ('it''s', -9223372036854775808, -0.5), ('', NULL, 9e999), (NULL, 0, -9e999)",
        "INSERT INTO \"quote\"\"d 'table'\" VALUES (NULL, 0, 1.0), (NULL, 0, 1.0)",
        "CREATE TABLE mixed (id INTEGER PRIMARY KEY, anything, broken TEXT, flag BOOLEAN, maybe BOOLEAN, price DECIMAL(10,2), whole INTEGER, blank)",
        "INSERT INTO mixed VALUES (1, 5, 'ok', 1, 1, 1.10, 3, NULL), (2, 5.0, CAST(X'C3' AS TEXT), 0, 2, 2, 2.5, NULL)",
        "INSERT INTO mixed VALUES (3, 'it''s', '', NULL, 'yes', 1e20, 3, NULL), (4, X'00FF', NULL, 1, NULL, 0.3, NULL, NULL), (5, '', 'é', 0, 0, -7.25, 1, NULL)",
        // Dates and ids.
        "CREATE TABLE moments (day DATE, stamp TIMESTAMP, fine DATETIME, unix DATETIME, zone DATETIME, odd DATE, id UUID, low GUID, bytes UNIQUEIDENTIFIER)",
        """
        INSERT INTO moments VALUES ('2024-02-29', '1969-12-31 23:59:59', '0001-01-01 00:00:00.001', 1700000000, '2024-01-01T00:00:00Z', '2024-02-30',
            '6BA7B810-9DAD-11D1-80B4-00C04FD430C8', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', X'000102030405060708090A0B0C0D0E0F')
        """,
        "INSERT INTO moments VALUES ('9999-12-31', '2000-02-29 12:00:00', '2024-06-30 23:59:59.999', -1, '1900-03-01T01:02:03Z', '', NULL, NULL, NULL)",
        // Keys.
        "CREATE TABLE pairs (a INTEGER, b TEXT, note TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "CREATE TABLE children (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, FOREIGN KEY (a, b) REFERENCES pairs (a, b))",
        "INSERT INTO pairs VALUES (2, 'y', NULL), (1, 'x', 'n'), (1, 'a', '')", "INSERT INTO children VALUES (1, 1, 'x'), (2, NULL, NULL)",
        "CREATE TABLE base (code TEXT PRIMARY KEY NOT NULL, name TEXT COLLATE NOCASE UNIQUE)",
        "CREATE TABLE detail (code TEXT PRIMARY KEY NOT NULL REFERENCES base, size INTEGER DEFAULT (7))",
        "CREATE TABLE more (id INTEGER PRIMARY KEY, detail TEXT REFERENCES detail (code), lost TEXT REFERENCES base, gone INTEGER REFERENCES nowhere)",
        "INSERT INTO base VALUES ('a', 'A'), ('b', NULL)", "INSERT INTO detail VALUES ('b', 3)",
        "INSERT INTO more VALUES (1, 'b', 'zzz', 5), (2, NULL, NULL, NULL), (3, 'b', 'a', 6)",
        // Cycles.
        "CREATE TABLE hen (id INTEGER PRIMARY KEY, egg INTEGER NOT NULL REFERENCES egg (id), mother INTEGER NOT NULL REFERENCES hen (id))",
        "CREATE TABLE egg (id INTEGER PRIMARY KEY, hen INTEGER NOT NULL REFERENCES hen (id))",
        "INSERT INTO hen VALUES (1, 3, 2), (2, 4, 1), (5, 3, 5)", "INSERT INTO egg VALUES (3, 2), (4, 1)",
        // A table that connects a table with itself, and one with an attribute of its own.
        "CREATE TABLE likes (hen_id INTEGER NOT NULL REFERENCES hen (id), liked_id INTEGER NOT NULL REFERENCES hen (id), UNIQUE (hen_id, liked_id))",
        "INSERT INTO likes VALUES (1, 2), (2, 1), (1, 1), (5, 2)",
        "CREATE TABLE owns (hen INTEGER NOT NULL REFERENCES hen (id), egg INTEGER NOT NULL REFERENCES egg (id), since DATE DEFAULT CURRENT_DATE, PRIMARY KEY (hen, egg))",
        "INSERT INTO owns VALUES (1, 3, '2020-01-01'), (2, 3, NULL)",
        // Declarations.
        "CREATE TABLE computed (w INTEGER DEFAULT 2, h INTEGER CHECK (h > 0 AND 'a)' <> '('), area INTEGER GENERATED ALWAYS AS (w * h) STORED, twice AS (w * 2), x DEFAULT (random()))",
        "INSERT INTO computed (w, h) VALUES (2, 3)", "UPDATE computed SET x = 1",
        "CREATE INDEX expression ON computed (w + h)", "CREATE UNIQUE INDEX partial ON computed (w) WHERE h > 1",
        "CREATE INDEX plain ON computed (h DESC, w)",
        "CREATE TRIGGER watch AFTER INSERT ON computed BEGIN SELECT 1; END", "CREATE VIEW seen AS SELECT w FROM computed",
        "CREATE VIRTUAL TABLE words USING fts5(body)", "INSERT INTO words VALUES ('one two')",
        "CREATE TABLE empty (id INTEGER PRIMARY KEY, unknown, stamp DATETIME, price MONEY)",
    ]

    /// The tables that an export cannot create.
    static let leftOut = ["words", "words_config", "words_content", "words_data", "words_docsize", "words_idx"]
}
