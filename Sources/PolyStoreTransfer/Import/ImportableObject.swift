import PolyStoreKernel

/// A model whose objects are created from an import source.
///
///     extension Visit: ImportableObject {
///         typealias ImportSource = [String: JSONValue]
///
///         func didInsert(from source: ImportSource, in transaction: Transaction) throws {
///             date = try source.require("date")
///         }
///     }
///
///     try await stack.perform { _ = try $0.importObjects(Into<Visit>(), from: sources) }
///
/// Use it if every source creates a new object. If a source may describe an existing object, conform to
/// ``ImportableUniqueObject``. An ``ImportMapping`` can provide the conformance.
public protocol ImportableObject: Model {
    /// The type that the object reads its values from, such as a dictionary, a decoded value or a `SourceRecord`.
    associatedtype ImportSource
    /// The kind of import, which follows from the protocol: an ``ImportableUniqueObject`` is a ``UniqueImport``, other classes are an ``InsertingImport``. The
    /// compiler uses it to refuse the methods of the other kind.
    associatedtype ImportKind = InsertingImport

    /// Returns whether to insert an object for a source. The default returns true.
    /// - Returns: `false` to skip the source; the import continues with the next one.
    /// - Throws: Any error, which ends the import.
    static func shouldInsert(from source: ImportSource, in transaction: Transaction) throws -> Bool

    /// Reads the values of a new object from its source.
    /// - Throws: Any error, which ends the import. The transaction keeps the objects imported before, and the caller decides whether to commit it.
    func didInsert(from source: ImportSource, in transaction: Transaction) throws
}

extension ImportableObject {
    public static func shouldInsert(from source: ImportSource, in transaction: Transaction) throws -> Bool { true }
}

/// The kind of import of a class whose sources each insert an object; see ``ImportableObject/ImportKind``.
public enum InsertingImport {}

/// The kind of import of a class whose sources update the object with their unique id or insert one; see ``ImportableObject/ImportKind``.
public enum UniqueImport {}
