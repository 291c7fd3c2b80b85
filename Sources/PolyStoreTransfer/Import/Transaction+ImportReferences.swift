import PolyStoreBackend
import PolyStoreKernel

extension Transaction {
    /// Returns a reference to the object with a unique id, which is in the store or is imported in this transaction, before or after this call.
    ///
    ///     try transaction.reference(Into<Country>(), uniqueID: "FR").assign(to: \.country, on: city)
    ///
    /// - Parameters:
    ///   - into: The store of the object, if several stores hold its entity.
    ///   - uniqueID: The unique id; `nil` returns an empty reference.
    ///   - ifMissing: The behavior if the object does not exist when the transaction is committed. Stubs are created at the end of the import call.
    /// - Throws: `storeNotFound`, `ambiguousStore`; `misuse` with the index to declare, if no index covers the unique id.
    public func reference<T: ImportableUniqueObject>(
        _ into: Into<T>, uniqueID: T.UniqueIDType?, ifMissing: MissingReference = .fail
    ) throws -> ImportReference<T> {
        try ImportReference(importer: importing.importer(into), transaction: self, id: uniqueID, policy: ifMissing)
    }

    /// Returns references to the objects with the given unique ids; see ``reference(_:uniqueID:ifMissing:)``.
    public func references<T: ImportableUniqueObject, S: Sequence<T.UniqueIDType>>(
        _ into: Into<T>, uniqueIDs: S, ifMissing: MissingReference = .fail
    ) throws -> ImportReferences<T> {
        let importer = try importing.importer(into)
        return ImportReferences(
            importer: importer, transaction: self,
            references: uniqueIDs.map { ImportReference(importer: importer, transaction: self, id: $0, policy: ifMissing) })
    }

    /// Returns a reference to the object that a nested source describes. The source is imported at the end of the import call, together with all other nested
    /// sources of its entity.
    ///
    ///     try transaction.reference(Into<Address>(), importing: source.address).assign(to: \.address, on: self)
    ///
    /// If `shouldInsert` rejects a source whose object does not exist, the reference is empty.
    /// - Parameters:
    ///   - into: The store of the object, if several stores hold its entity.
    ///   - source: The nested source; `nil`, or a source without an id, returns an empty reference.
    /// - Throws: Errors of `uniqueID(from:in:)`; see ``reference(_:uniqueID:ifMissing:)``.
    public func reference<T: ImportableUniqueObject>(_ into: Into<T>, importing source: T.ImportSource?) throws -> ImportReference<T> {
        let importer = try importing.importer(into)
        let id = try source.flatMap { try T.uniqueID(from: $0, in: self) }
        if let source, id != nil { importer.references.add(source) }
        return ImportReference(importer: importer, transaction: self, id: id, policy: .ignore)
    }

    /// Returns references to the objects that nested sources describe; see ``reference(_:importing:)``.
    public func references<T: ImportableUniqueObject, S: Sequence<T.ImportSource>>(
        _ into: Into<T>, importing sources: S
    ) throws -> ImportReferences<T> {
        ImportReferences(
            importer: try importing.importer(into), transaction: self, references: try sources.map { try reference(into, importing: $0) })
    }

    /// Resolves all import references now instead of at the commit.
    /// - Throws: `notFound` with the references whose targets do not exist; errors of the imports of nested sources.
    public func resolveReferences() throws {
        try checkMutable()
        try resolveImports()
    }

    /// Called before the changes are collected for a commit.
}
