/// The sources of one import call by their ids: of several with one id the last one, at the position of the first.
struct UniqueSources<T: ImportableUniqueObject> {
    typealias Pair = (id: T.UniqueIDType, source: T.ImportSource)

    private let importer: UniqueImporter<T>
    private(set) var index: [ImportKey: Int] = [:]
    // By position.
    private(set) var keys: [ImportKey] = []
    private(set) var ids: [T.UniqueIDType] = []
    /// Where the source of each id is among all sources. These are kept as they came: an array of them is not copied.
    private var places: [Int] = []
    private let all: [T.ImportSource]

    var count: Int { keys.count }
    func source(_ position: Int) -> T.ImportSource { all[places[position]] }
    var pairs: [Pair] { ids.indices.map { (id: ids[$0], source: source($0)) } }

    init(_ importer: UniqueImporter<T>, _ pairs: [Pair]) {
        self.importer = importer
        all = pairs.map(\.source)
        reserve()
        for (place, pair) in pairs.enumerated() { add(pair.id, place) }
    }

    /// The sources that have an id.
    init(_ importer: UniqueImporter<T>, _ sources: some Sequence<T.ImportSource>, _ transaction: Transaction) throws {
        self.importer = importer
        all = Array(sources)
        reserve()
        for place in all.indices { if let id = try T.uniqueID(from: all[place], in: transaction) { add(id, place) } }
    }

    private mutating func reserve() {
        index.reserveCapacity(all.count)
        keys.reserveCapacity(all.count)
        ids.reserveCapacity(all.count)
        places.reserveCapacity(all.count)
    }

    private mutating func add(_ id: T.UniqueIDType, _ place: Int) {
        let key = importer.access.key(id)
        let position = index.position(key)
        guard position == keys.count else {
            ids[position] = id
            places[position] = place
            return
        }
        keys.append(key)
        ids.append(id)
        places.append(place)
    }
}
