/// The limits of named values: small byte strings that belong to a store and change with its records.
///
/// A transaction sets them through ``ChangeSet/setValue(_:named:)``. They hold data that must be consistent with the store's records, for example the position
/// of an import that resumes after a crash. Names are compared by their UTF-8 bytes.
public enum NamedValue {
    /// The maximum length of a name, in bytes of UTF-8. The minimum is 1.
    public static let longestName = 200
    /// The maximum length of a value, in bytes. An empty value differs from an absent one.
    public static let longestValue = 65_536
    /// The prefix of names that are reserved for the framework.
    public static let reservedPrefix = "polystore."

    /// Checks the length of a name.
    /// - Throws: `invalidValue`.
    public static func check(name: String) throws {
        let count = name.utf8.count
        guard (1...longestName).contains(count) else {
            throw StoreError(
                .invalidValue,
                "\"\(name.prefix(40))\" cannot name a value: it has \(count) bytes, and a name has 1 to \(longestName). Choose another name."
            )
        }
    }

    /// Checks the length of a value.
    /// - Throws: `invalidValue`.
    public static func check(_ bytes: [UInt8], named name: String) throws {
        guard bytes.count <= longestValue else {
            throw StoreError(
                .invalidValue,
                "The value \"\(name)\" has \(bytes.count) bytes, and a named value has at most \(longestValue). Keep larger data in an object."
            )
        }
    }

    /// The error of a backend without ``Capabilities/Feature/namedValues``.
    public static func unsupported(location: String? = nil) -> StoreError {
        StoreError(
            .unsupported, "\(location ?? "This backend") keeps no named values. Use a backend that claims the feature namedValues.",
            location: location)
    }
}

extension ReadTransaction {
    public func value(named name: String) throws -> [UInt8]? { throw NamedValue.unsupported() }
    public func valueNames(prefix: String) throws -> [String] { throw NamedValue.unsupported() }
}
