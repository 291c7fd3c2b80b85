import PolyStoreBackend

/// Assigns unique names to tables and indexes, which share one namespace in SQLite.
///
/// Entities come first and always keep their names. Derived names (`Person_email`) get a numeric suffix if they are taken. The same sequence of calls always
/// yields the same names, so names are stable between launches.
struct SQLNameSpace {
    /// The assigned names, case-folded as SQLite compares them.
    private var taken: Set<String> = []

    /// - Returns: the name, with the suffix `_2`, `_3`, … if it is taken, and with a leading underscore if it begins with a reserved prefix.
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
