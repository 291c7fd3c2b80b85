import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreMemory
import PolyStoreTables
import SeededRandom
import TestSupport
import Testing

/// Random tables with random values, whose rows are imported and exported.
@Suite struct RandomTablesTests {
    private static let types = [
        "INTEGER", "INT", "TEXT", "VARCHAR(10)", "REAL", "BLOB", "", "NUMERIC", "DECIMAL(10,2)", "BOOLEAN", "DATE", "DATETIME", "UUID",
        "STRING", "JSON",
        "FLOAT", "TIMESTAMP", "MONEY", "DOUBLE PRECISION",
    ]
    private static let values = [
        "NULL", "0", "1", "-1", "2.5", "1e300", "-0.0", "9223372036854775807", "-9223372036854775808", "''", "'a'", "'A'", "'1'", "'1.0'",
        "' x '", "X''", "X'00'",
        "X'C328'", "CAST(X'FF' AS TEXT)", "'2024-02-29'", "'2024-02-29 10:11:12'", "'2024-02-30'", "'6BA7B810-9DAD-11D1-80B4-00C04FD430C8'",
        "0.1", "100.10",
        "char(0)", "'é'", "1700000000", "9e999", "'null'", "123456789012345678", "0.30000000000000004",
    ]

    /// Creates the statements of a database.
    private static func statements(_ random: inout SplitMix64) -> [String] {
        var statements: [String] = []
        let count = Int.random(in: 1...5, using: &random)
        var keys: [(table: String, column: String)] = []
        var inserts: [String] = []
        for table in 0..<count {
            let name = ["t\(table)", "T \(table)", "order_\(table)s", "x\(table)\"y"][Int.random(in: 0..<4, using: &random)]
            let quoted = "\"\(name.replacing("\"", with: "\"\""))\""
            let hasKey = Int.random(in: 0..<4, using: &random) > 0
            var columns = hasKey ? ["id INTEGER PRIMARY KEY"] : []
            if hasKey { keys.append((quoted, "id")) }
            // A pool of few values makes a column of one type likely.
            var pools: [[String]] = hasKey ? [(1...6).map { "\($0)" }] : []
            for column in 0..<Int.random(in: 1...5, using: &random) {
                let type = types.randomElement(using: &random) ?? ""
                var declaration = "c\(column) \(type)"
                var pool = (0..<Int.random(in: 1...4, using: &random)).map { _ in values.randomElement(using: &random) ?? "NULL" }
                if let key = keys.randomElement(using: &random), Bool.random(using: &random) {
                    let action =
                        ["", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE RESTRICT"].randomElement(using: &random) ?? ""
                    declaration = "c\(column) INTEGER REFERENCES \(key.table) (\(key.column))\(action)"
                    pool = ["1", "2", "3", "NULL"] + (Int.random(in: 0..<5, using: &random) == 0 ? ["77"] : [])
                }
                if Int.random(in: 0..<4, using: &random) == 0 { declaration += " NOT NULL" }
                if Int.random(in: 0..<6, using: &random) == 0 { declaration += " UNIQUE" }
                if Int.random(in: 0..<6, using: &random) == 0 {
                    declaration += " DEFAULT \(pool[0].hasPrefix("CAST") || pool[0].hasPrefix("char") ? "(\(pool[0]))" : pool[0])"
                }
                columns.append(declaration)
                pools.append(pool)
            }
            if !hasKey, Bool.random(using: &random) {
                columns.append("PRIMARY KEY (\((0..<pools.count).map { "c\($0)" }.joined(separator: ", ")))")
            }
            statements.append("CREATE TABLE \(quoted) (\(columns.joined(separator: ", ")))")
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let row = pools.map { $0.randomElement(using: &random) ?? "NULL" }.joined(separator: ", ")
                inserts.append("INSERT OR IGNORE INTO \(quoted) VALUES (\(row))")
            }
            if Int.random(in: 0..<3, using: &random) == 0 { statements.append("CREATE INDEX \"i\(table)\" ON \(quoted) (c0)") }
        }
        return statements + inserts
    }

    @Test(arguments: 0..<UInt64(Ring.size(40, thorough: 3000)))
    func rowsAreEqualAfterImportAndExport(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let statements = Self.statements(&random)
        let folder = try Folder()
        let before = try ForeignDatabase(folder.file("before.db"))
        // A row can have no integer for an integer key.
        for statement in statements { before.attempt(statement) }
        let tables = try SQLiteTables(path: folder.file("before.db"))
        _ = try tables.modelSource()
        let stack = try tables.stack(.inMemory())
        try tables.importRows(into: stack, batch: 3)
        try tables.exportRows(from: stack, to: folder.file("after.db"))
        let (found, expected) = (try ForeignDatabase(folder.file("after.db")).contents(), try before.contents())
        #expect(found == expected, "seed \(seed): \(statements.joined(separator: ";\n"))")
    }
}
