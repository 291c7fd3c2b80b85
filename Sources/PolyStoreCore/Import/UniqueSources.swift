/// The sources of one import call by their ids: of several with one id the last one, at the position of the first.
struct UniqueSources<T: ImportableUniqueObject> {
    typealias Pair = (id: T.UniqueIDType, source: T.ImportSource)

    private let importer: UniqueImporter<T>
    private(set) var index: [ImportKey: Int] = [:]
    private(set) var pairs: [Pair] = []

    init(_ importer: UniqueImporter<T>) { self.importer = importer }

    init(_ importer: UniqueImporter<T>, _ pairs: [Pair]) {
        self.importer = importer
        for pair in pairs { add(pair) }
    }

    /// Adds the sources that have an id.
    mutating func add(_ sources: some Sequence<T.ImportSource>, _ transaction: Transaction) throws {
        index.reserveCapacity(sources.underestimatedCount)
        pairs.reserveCapacity(sources.underestimatedCount)
        for source in sources { if let id = try T.uniqueID(from: source, in: transaction) { add((id, source)) } }
    }

    private mutating func add(_ pair: Pair) {
        let next = pairs.count
        var position = next
        // One look-up, whether the id is new or not.
        func place(_ known: inout Int) {
            if known < 0 { known = next }
            position = known
        }
        place(&index[importer.access.key(pair.id), default: -1])
        if position < next { pairs[position] = pair } else { pairs.append(pair) }
    }
}
