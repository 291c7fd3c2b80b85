import PolyStoreBackend

extension Transaction {
    /// Updates the object that has the unique id of a source, or inserts one.
    ///
    ///     let jane = try transaction.importUniqueObject(Into<Person>(), from: source)
    ///
    /// - Returns: the object; nil where the source has no id, or `shouldInsert` or `shouldUpdate` returned false.
    /// - Throws: what the model's methods throw; `misuse`, naming the index to declare, where none serves the unique id.
    @discardableResult
    public func importUniqueObject<T: ImportableUniqueObject>(_ into: Into<T>, from source: T.ImportSource) throws -> T? {
        try importUniqueObjects(into, from: CollectionOfOne(source)).first
    }

    /// Updates the objects that have the unique ids of some sources, and inserts those that do not exist.
    ///
    ///     let people = try transaction.importUniqueObjects(Into<Person>(), from: sources)
    ///
    /// All ids are looked up before the first object changes, with one query for each 512 of them. Of several sources with one id the last one counts, at
    /// the position of the first.
    /// A source without an id is skipped, and so is one for which `shouldInsert` or `shouldUpdate` returns false.
    /// - Returns: the objects that were inserted or updated, in the order of the sources.
    /// - Throws: what the model's methods throw; `misuse`, naming the index to declare, where none serves the unique id. The objects imported before stay
    ///   pending; to discard them, let the error leave the transaction.
    @discardableResult
    @inlinable
    public func importUniqueObjects<T: ImportableUniqueObject, S: Sequence<T.ImportSource>>(
        _ into: Into<T>, from sources: S
    ) throws -> [T] {
        try importUniqueObjects(uniqueImporter(into), sources)
    }

    /// Returns what imports objects of a class, where something may still be changed.
    @usableFromInline
    final func uniqueImporter<T: ImportableUniqueObject>(_ into: Into<T>) throws -> UniqueImporter<T> {
        try checkMutable()
        return try importing.importer(into)
    }

    /// Updates and inserts objects, after a closure has seen all sources by their ids: it can leave out, replace or add some.
    /// - Parameter preProcess: gets the last source of each id. What it returns is imported: in the order of the sources, added ids last.
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

    /// Updates and inserts objects, after a closure has seen all sources with their ids, in order: it can leave out, replace, add or move some.
    /// - Parameter preProcessInOrder: gets each id once, with its last source. What it returns is imported in that order.
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
