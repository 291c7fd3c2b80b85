import PolyStoreBackend

/// Names in SQL.
enum SQLNames {
    /// The column of ids in every table.
    static let objectID = quoted("objectID")

    /// A name as an identifier; quotes inside are doubled.
    static func quoted(_ name: String) -> String {
        var result = "\""
        for character in name.unicodeScalars {
            if character == "\"" { result += "\"" }
            result.unicodeScalars.append(character)
        }
        return result + "\""
    }

    /// As SQLite compares names: without case, ASCII only.
    static func folded(_ name: String) -> [UInt8] { name.utf8.map { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 } }

    private static let reservedPrefixes = ["sqlite_", "polystore_"]

    /// The prefix that makes a name one of SQLite's or this library's own.
    static func reservedPrefix(of name: String) -> String? {
        let name = folded(name)
        return reservedPrefixes.first { name.starts(with: $0.utf8) }
    }

    /// Refuses what belongs to SQLite and to this library.
    /// - Throws: `invalidSchema`.
    static func check(_ entity: Entity) throws {
        if let prefix = reservedPrefix(of: entity.name) {
            throw StoreError(
                .invalidSchema, "The entity \(entity.name) cannot be a table: names that begin with \(prefix) are reserved. Rename it.",
                entity: entity.name)
        }
    }
}

/// Gives out names of tables and indexes, which share one space in SQLite, so that each is there once.
///
/// Entities come first and always keep their own. What is derived from them (`Person_email`) gets a number where it is taken.
/// Asked in the same order it always answers the same, so the names hold from one start to the next.
struct SQLNameSpace {
    /// As SQLite compares them.
    private var taken: Set<String> = []

    /// - Returns: the name, or the name with `_2`, `_3`, … where it is taken, after an underscore where it begins with a reserved word.
    mutating func claim(_ name: String) -> String {
        let name = SQLNames.reservedPrefix(of: name) == nil ? name : "_" + name
        var candidate = name
        var number = 2
        while !taken.insert(String(decoding: SQLNames.folded(candidate), as: UTF8.self)).inserted {
            candidate = "\(name)_\(number)"
            number += 1
        }
        return candidate
    }
}
