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

/// A model whose import sources have a unique id, by which an import finds the object to update.
///
///     extension Person: ImportableUniqueObject {
///         static var uniqueIDKeyPath: WritableKeyPath<Person, String> { \.email }
///
///         static func uniqueID(from source: [String: JSONValue], in transaction: Transaction) throws -> String? { source["email"]?.string }
///
///         func update(from source: [String: JSONValue], in transaction: Transaction) throws { name = try source.require("name") }
///     }
///
///     try await stack.perform { _ = try $0.importUniqueObjects(Into<Person>(), from: sources) }
///
/// An import fetches the objects of 512 sources with one query, so the attribute needs an index: declare it `@Attribute(.unique)`. For an id
/// of several attributes, return a ``CompoundUniqueID`` and declare `#Unique`; for an optional attribute, return an ``OptionalUniqueID``.
///
/// In a class hierarchy, an import of `Into<Dog>` finds only dogs. If a cat has the same id, the commit reports a uniqueness violation.
public protocol ImportableUniqueObject: ImportableObject where ImportKind == UniqueImport {
    // Declared again so that it is inferred from the methods below.
    associatedtype ImportSource
    /// The type of the unique id.
    associatedtype UniqueIDType
    /// The type of the key path or of the compound id.
    associatedtype UniqueIDPath: UniqueIDKeyPath where UniqueIDPath.UniqueIDValue == UniqueIDType

    /// The attribute or attributes that hold the unique id.
    static var uniqueIDKeyPath: UniqueIDPath { get }

    /// Returns the unique id of a source.
    /// - Returns: `nil` to skip the source.
    /// - Throws: Any error, which ends the import before an object is inserted or updated.
    static func uniqueID(from source: ImportSource, in transaction: Transaction) throws -> UniqueIDType?

    /// Returns whether to update an existing object from a source. The default returns true.
    /// - Returns: `false` to skip the source; the object stays unchanged and is not among the results.
    static func shouldUpdate(from source: ImportSource, in transaction: Transaction) throws -> Bool

    /// Reads the values of an object from its source. Called for existing objects and, unless you implement `didInsert`, for new ones. The unique id is already
    /// set.
    /// - Throws: Any error, which ends the import.
    func update(from source: ImportSource, in transaction: Transaction) throws
}

/// A class whose objects have a unique id only if their entity declares one, and whose sources may have none: such a source inserts an object.
package protocol OptionallyUniqueObject: ImportableUniqueObject {
    /// A Boolean value that indicates whether the entity declares a unique id.
    static var hasUniqueID: Bool { get }
}

extension ImportableUniqueObject {
    public static func shouldUpdate(from source: ImportSource, in transaction: Transaction) throws -> Bool { true }

    /// Calls `update(from:in:)`.
    public func didInsert(from source: ImportSource, in transaction: Transaction) throws { try update(from: source, in: transaction) }
}
