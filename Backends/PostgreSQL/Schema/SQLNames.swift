import PolyStoreBackend

/// Quotes names in SQL, and shortens those that PostgreSQL would cut.
enum SQLNames {
    /// The row id column of every table.
    static let objectID = quoted("objectID")
    /// The number of bytes at which PostgreSQL cuts a name.
    static let longest = 63
    /// The columns that every table has.
    private static let systemColumns: Set<String> = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "objectid"]

    /// Returns a name as a quoted identifier; quotes inside are doubled.
    static func quoted(_ name: String) -> String { name.enclosed(in: "\"") }

    /// Returns a text without NUL as a literal; quotes inside are doubled. Backslashes have no meaning, as `standard_conforming_strings` is on.
    static func literal(_ text: String) -> String { text.enclosed(in: "'") }

    /// Returns whether a name is reserved for the tables of this library.
    static func isReserved(_ name: String) -> Bool { name.lowercased().hasPrefix("polystore_") }

    /// Returns whether a name cannot be that of a column.
    static func isSystemColumn(_ name: String) -> Bool { systemColumns.contains(name.lowercased()) }

    /// Returns the beginning of a name and a hash of the whole name, in at most ``longest`` bytes.
    static func shortened(_ name: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        var start = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            if count > longest - 17 { break }
            start.append(scalar)
        }
        return String(start) + "_" + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Assigns unique names to the tables and indexes of a schema, or to the columns of a table. Equal calls in equal order give equal names.
struct SQLNameSpace {
    private var taken: Set<String> = []
    private let isReserved: (String) -> Bool

    /// - Parameter isReserved: Returns whether a name cannot be used.
    init(isReserved: @escaping (String) -> Bool) { self.isReserved = isReserved }

    /// Returns the name itself if PostgreSQL keeps it unchanged and it is free, and otherwise a shorter one with a hash.
    mutating func claim(_ name: String) -> String {
        if name.utf8.count <= SQLNames.longest, !isReserved(name), taken.insert(Self.key(name)).inserted { return name }
        var text = isReserved(name) ? "_" + name : name
        while true {
            let candidate = SQLNames.shortened(text)
            if taken.insert(Self.key(candidate)).inserted { return candidate }
            text += "_"
        }
    }

    /// Names that are canonically equivalent are different names in PostgreSQL, and equal strings in Swift.
    private static func key(_ name: String) -> String { String(name.unicodeScalars.map { "\($0.value)." }.joined()) }
}
