/// The sources of one import call by their ids: of several with one id the last one, at the position of the first.
///
/// Inlined in the module of the model, as are the loops of ``UniqueImporter``: generic code copies each source that it hands on.
@usableFromInline
struct UniqueSources<T: ImportableUniqueObject> {
    @usableFromInline typealias Pair = (id: T.UniqueIDType, source: T.ImportSource)

    @usableFromInline let importer: UniqueImporter<T>
    @usableFromInline var index = ImportKeyIndex()
    /// By position.
    @usableFromInline var ids: [T.UniqueIDType] = []
    /// Where the source of each id is among all sources. These are kept as they came: an array of them is not copied.
    @usableFromInline var places: [Int] = []
    @usableFromInline let all: [T.ImportSource]

    var pairs: [Pair] { ids.indices.map { (id: ids[$0], source: all[places[$0]]) } }

    init(_ importer: UniqueImporter<T>, _ pairs: [Pair]) {
        self.importer = importer
        all = pairs.map(\.source)
        reserve()
        for (place, pair) in pairs.enumerated() { add(pair.id, place) }
    }

    /// The sources that have an id.
    @inlinable
    init(_ importer: UniqueImporter<T>, _ sources: [T.ImportSource], _ transaction: Transaction) throws {
        self.importer = importer
        all = sources
        reserve()
        for place in all.indices { if let id = try T.uniqueID(from: all[place], in: transaction) { add(id, place) } }
    }

    @inlinable
    mutating func reserve() {
        index.reserveCapacity(all.count)
        ids.reserveCapacity(all.count)
        places.reserveCapacity(all.count)
    }

    @inlinable
    mutating func add(_ id: T.UniqueIDType, _ place: Int) {
        let position = index.insert(importer.key(of: id))
        guard position == ids.count else {
            ids[position] = id
            places[position] = place
            return
        }
        ids.append(id)
        places.append(place)
    }
}
