/// A model whose objects can be filled from an import source.
///
///     extension Visit: ImportableObject {
///         typealias ImportSource = [String: JSONValue]
///
///         func didInsert(from source: ImportSource, in transaction: Transaction) throws {
///             date = try source.require("date")
///         }
///     }
///
///     try await stack.perform { try $0.importObjects(Into<Visit>(), from: sources) }
///
/// Use it where every source makes a new object. Where a source may describe an object that exists already, conform to
/// ``ImportableUniqueObject``. An ``ImportMapping`` writes the conformance for you.
public protocol ImportableObject: Model {
    /// The type that the object reads its values from: a dictionary, a decoded value, a ``SourceRecord``.
    associatedtype ImportSource

    /// Returns whether an object is inserted for a source. The default returns true.
    /// - Returns: false to skip the source; the import continues with the next one.
    /// - Throws: any error, which ends the import.
    static func shouldInsert(from source: ImportSource, in transaction: Transaction) throws -> Bool

    /// Reads the values of a new object from its source.
    /// - Throws: any error, which ends the import. The transaction keeps what was imported before, and the caller decides whether to commit it.
    func didInsert(from source: ImportSource, in transaction: Transaction) throws
}

extension ImportableObject {
    public static func shouldInsert(from source: ImportSource, in transaction: Transaction) throws -> Bool { true }
}
