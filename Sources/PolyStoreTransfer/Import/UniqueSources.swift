import PolyStoreKernel

/// The sources of one import call by id. If several have the same id, the last one is used, at the position of the first.
///
/// Inlinable into the module of the model, like the loops of ``UniqueImporter``, because generic code copies every source that it passes.
@usableFromInline
struct UniqueSources<T: ImportableUniqueObject> {
    @usableFromInline typealias Pair = (id: T.UniqueIDType, source: T.ImportSource)

    @usableFromInline let importer: UniqueImporter<T>
    @usableFromInline var index = ImportKeyIndex()
    /// The ids, by position.
    @usableFromInline var ids: [T.UniqueIDType] = []
    /// The index in `all` of the source of each id. The original array is kept, so it is not copied.
    @usableFromInline var sourceIndexes: [Int] = []
    @usableFromInline let all: [T.ImportSource]

    var pairs: [Pair] { ids.indices.map { (id: ids[$0], source: all[sourceIndexes[$0]]) } }

    init(_ importer: UniqueImporter<T>, _ pairs: [Pair]) {
        self.importer = importer
        all = pairs.map(\.source)
        reserve()
        for (index, pair) in pairs.enumerated() { add(pair.id, index) }
    }

    /// Collects the sources that have an id.
    @inlinable
    init(_ importer: UniqueImporter<T>, _ sources: [T.ImportSource], _ transaction: Transaction) throws {
        self.importer = importer
        all = sources
        reserve()
        for index in all.indices { if let id = try T.uniqueID(from: all[index], in: transaction) { add(id, index) } }
    }

    @inlinable
    mutating func reserve() {
        index.reserveCapacity(all.count)
        ids.reserveCapacity(all.count)
        sourceIndexes.reserveCapacity(all.count)
    }

    @inlinable
    mutating func add(_ id: T.UniqueIDType, _ sourceIndex: Int) {
        let position = index.insert(importer.key(of: id))
        guard position == ids.count else {
            ids[position] = id
            sourceIndexes[position] = sourceIndex
            return
        }
        ids.append(id)
        sourceIndexes.append(sourceIndex)
    }
}
