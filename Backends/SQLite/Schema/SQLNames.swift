import PolyStoreBackend

/// Quotes and checks names in SQL.
enum SQLNames {
    /// The row id column of every table.
    static let objectID = quoted("objectID")

    /// Returns a name as a quoted identifier; quotes inside are doubled.
    static func quoted(_ name: String) -> String { name.enclosed(in: "\"") }

    /// Returns a text without NUL as a literal; quotes inside are doubled.
    static func literal(_ text: String) -> String { text.enclosed(in: "'") }

    /// Returns a name case-folded as SQLite compares it: ASCII letters only.
    static func folded(_ name: String) -> [UInt8] { name.utf8.map { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 } }

    private static let reservedPrefixes = ["sqlite_", "polystore_"]

    /// Returns the prefix that reserves a name for SQLite or this library.
    static func reservedPrefix(of name: String) -> String? {
        let name = folded(name)
        return reservedPrefixes.first { name.starts(with: $0.utf8) }
    }

    /// Rejects names that are reserved for SQLite or this library.
    /// - Throws: `invalidSchema`.
    static func check(_ entity: Entity) throws {
        if let prefix = reservedPrefix(of: entity.name) {
            throw StoreError(
                .invalidSchema, "The entity \(entity.name) cannot be a table: names that begin with \(prefix) are reserved. Rename it.",
                entity: entity.name)
        }
    }
}
