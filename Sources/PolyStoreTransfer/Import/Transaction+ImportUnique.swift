import PolyStoreBackend
import PolyStoreKernel

extension Transaction {
    /// Updates the object with the unique id of a source, or inserts one.
    ///
    ///     let jane = try transaction.importUniqueObject(Into<Person>(), from: sources[0])
    ///
    /// - Returns: The object; `nil` if the source has no id, or if `shouldInsert` or `shouldUpdate` returned false.
    /// - Throws: Errors of the model's methods; `misuse` with the index to declare, if no index covers the unique id.
    @discardableResult
    public func importUniqueObject<T: ImportableUniqueObject>(_ into: Into<T>, from source: T.ImportSource) throws -> T? {
        try importUniqueObjects(into, from: CollectionOfOne(source)).first
    }

    /// Updates the objects with the unique ids of the sources, and inserts missing ones.
    ///
    ///     let people = try transaction.importUniqueObjects(Into<Person>(), from: sources)
    ///
    /// All ids are looked up before the first object changes, with one query per 512 ids. If several sources have the same id, the last one is used, at
    /// the position of the first. Sources without an id, and those for which `shouldInsert` or `shouldUpdate` returns false, are skipped.
    /// - Returns: The inserted and updated objects, in the order of the sources.
    /// - Throws: Errors of the model's methods; `misuse` with the index to declare, if no index covers the unique id. The objects imported before stay
    ///   pending; to discard them, propagate the error out of the transaction.
    @discardableResult
    @inlinable
    public func importUniqueObjects<T: ImportableUniqueObject, S: Sequence<T.ImportSource>>(
        _ into: Into<T>, from sources: S
    ) throws -> [T] {
        try importUniqueObjects(uniqueImporter(into), sources)
    }

    /// Returns the importer of a class, after checking that the transaction permits changes.
    @usableFromInline
    final func uniqueImporter<T: ImportableUniqueObject>(_ into: Into<T>) throws -> UniqueImporter<T> {
        try checkMutable()
        return try importing.importer(into)
    }

    /// Updates and inserts objects after a closure has processed the sources by id. The closure can remove, replace and add sources.
    /// - Parameters:
    ///   - into: The class, and the configuration if several stores hold it.
    ///   - sources: The sources, in order.
    ///   - preProcess: Receives the last source of each id and returns the sources to import: in the order of the sources, added ids last.
    @discardableResult
    public func importUniqueObjects<T: ImportableUniqueObject, S: Sequence<T.ImportSource>>(
        _ into: Into<T>, from sources: S,
        preProcess: (_ sources: [T.UniqueIDType: T.ImportSource]) throws -> [T.UniqueIDType: T.ImportSource]
    ) throws -> [T] where T.UniqueIDType: Hashable {
        try importUniqueObjects(
            into, from: sources,
            preProcessInOrder: { pairs in
                var left = try preProcess(Dictionary(pairs.map { ($0.id, $0.source) }, uniquingKeysWith: { $1 }))
                var kept: [(id: T.UniqueIDType, source: T.ImportSource)] = []
                for pair in pairs { if let source = left.removeValue(forKey: pair.id) { kept.append((pair.id, source)) } }
                return kept + left.map { (id: $0.key, source: $0.value) }
            })
    }

    /// Updates and inserts objects after a closure has processed the sources with their ids, in order. The closure can remove, replace, add and move sources.
    /// - Parameters:
    ///   - into: The class, and the configuration if several stores hold it.
    ///   - sources: The sources, in order.
    ///   - preProcessInOrder: Receives each id once, with its last source, and returns the sources to import, in that order.
    @discardableResult
    public func importUniqueObjects<T: ImportableUniqueObject, S: Sequence<T.ImportSource>>(
        _ into: Into<T>, from sources: S,
        preProcessInOrder: (_ sources: [(id: T.UniqueIDType, source: T.ImportSource)]) throws -> [(
            id: T.UniqueIDType, source: T.ImportSource
        )]
    ) throws -> [T] {
        try checkMutable()
        let importer = try importing.importer(into)
        return try importing.call {
            let unique = try UniqueSources(importer, Array(sources), self)
            return try importer.run(UniqueSources(importer, preProcessInOrder(unique.pairs)))
        }
    }

    @inlinable
    final func importUniqueObjects<T: ImportableUniqueObject, S: Sequence<T.ImportSource>>(
        _ importer: UniqueImporter<T>, _ sources: S
    ) throws -> [T] {
        try importing.call { try importer.run(UniqueSources(importer, Array(sources), self)) }
    }
}
