import PolyStoreKernel

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

extension ImportableUniqueObject {
    public static func shouldUpdate(from source: ImportSource, in transaction: Transaction) throws -> Bool { true }

    /// Calls `update(from:in:)`.
    public func didInsert(from source: ImportSource, in transaction: Transaction) throws { try update(from: source, in: transaction) }
}
