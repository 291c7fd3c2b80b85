/// The sources of one import call by their ids: of several with one id the last one, at the position of the first.
struct UniqueSources<T: ImportableUniqueObject> {
    typealias Pair = (id: T.UniqueIDType, source: T.ImportSource)

    private let importer: UniqueImporter<T>
    private(set) var index: [ImportKey: Int] = [:]
    // By position, each in a list of its own: pairs would be copied whole wherever one half is needed.
    private(set) var keys: [ImportKey] = []
    private(set) var ids: [T.UniqueIDType] = []
    private(set) var sources: [T.ImportSource] = []

    var pairs: [Pair] { zip(ids, sources).map { (id: $0, source: $1) } }

    init(_ importer: UniqueImporter<T>) { self.importer = importer }

    init(_ importer: UniqueImporter<T>, _ pairs: [Pair]) {
        self.importer = importer
        for pair in pairs { add(pair.id, pair.source) }
    }

    /// Adds the sources that have an id.
    mutating func add(_ sources: some Sequence<T.ImportSource>, _ transaction: Transaction) throws {
        let count = sources.underestimatedCount
        index.reserveCapacity(count)
        keys.reserveCapacity(count)
        ids.reserveCapacity(count)
        self.sources.reserveCapacity(count)
        for source in sources { if let id = try T.uniqueID(from: source, in: transaction) { add(id, source) } }
    }

    private mutating func add(_ id: T.UniqueIDType, _ source: T.ImportSource) {
        let key = importer.access.key(id)
        let next = keys.count
        var position = next
        // One look-up, whether the id is new or not.
        func place(_ known: inout Int) {
            if known < 0 { known = next }
            position = known
        }
        place(&index[key, default: -1])
        guard position == next else {
            ids[position] = id
            sources[position] = source
            return
        }
        keys.append(key)
        ids.append(id)
        sources.append(source)
    }
}
