import Foundation

/// The database of Swift's build system, which every build of this package writes.
enum BuildDatabase {
    /// Its tables as Swift 6.2 declares them, with a few rows.
    static let statements = [
        "CREATE TABLE info (id INTEGER PRIMARY KEY, version INTEGER, client_version INTEGER, iteration INTEGER)",
        "CREATE TABLE key_names (id INTEGER PRIMARY KEY, key STRING UNIQUE)",
        """
        CREATE TABLE rule_results (key_id INTEGER PRIMARY KEY, value BLOB, signature INTEGER, built_at INTEGER, computed_at INTEGER, start REAL, end REAL,
        dependencies BLOB, FOREIGN KEY(key_id) REFERENCES key_names(id))
        """,
        "CREATE UNIQUE INDEX rule_results_idx ON rule_results (key_id)", "INSERT INTO info VALUES (0, 17, 9, 2)",
        "INSERT INTO key_names VALUES (1, 'Nmain.swift'), (2, 'Cbuild')",
        "INSERT INTO rule_results VALUES (2, X'0102', -5, 1, 1, 0.5, 1.5, X'')",
    ]

    /// The file of the build that made this test, or of the package manager; nil if there is none.
    static var file: String? {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let candidates = [
            root.appending(path: ".build/build.db").path, NSHomeDirectory() + "/.cache/org.swift.swiftpm/manifests/manifest.db",
        ]
        return candidates.first { FileManager.default.fileExists(atPath: $0) }
    }
}
