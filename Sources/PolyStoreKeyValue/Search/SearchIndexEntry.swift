import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch

/// The metadata entry of a full-text index: what it indexes, and how much of it is built.
struct SearchIndexEntry: Hashable, Sendable {
    /// The values that determine the contents of an index.
    struct Name: Hashable, Sendable {
        /// The number of the entity.
        let entity: UInt32
        /// The names of the fields, in order.
        let fields: [String]
        let options: SearchOptions

        init(entity: UInt32, fields: [String], options: SearchOptions) {
            self.entity = entity
            self.fields = fields
            self.options = options
        }

        init(_ index: SearchIndex, entity: UInt32) { self.init(entity: entity, fields: index.fieldNames, options: index.options) }

        /// Names in an order that does not depend on the order of declarations.
        static func precedes(_ left: Name, _ right: Name) -> Bool {
            if left.entity != right.entity { return left.entity < right.entity }
            if left.fields != right.fields { return left.fields.lexicographicallyPrecedes(right.fields) }
            return left.options.stemming.rawValue < right.options.stemming.rawValue
        }
    }

    let name: Name
    var state: SearchIndexState

    init(_ name: Name, _ state: SearchIndexState) {
        self.name = name
        self.state = state
    }

    /// A tag, u8 (1 complete, 2 being built, 3 being built after a row id, i64, that follows); the number of the entity, u32; the stemming; the names of the fields.
    private var bytes: [UInt8] {
        var writer = MetadataWriter()
        switch state {
        case .complete: writer.append(UInt8(1))
        case .building(nil): writer.append(UInt8(2))
        case .building(let rowID?):
            writer.append(UInt8(3))
            writer.append(rowID)
        }
        writer.append(name.entity)
        writer.append(name.options.stemming.rawValue)
        writer.append(name.fields) { $0.append($1) }
        return writer.bytes
    }

    /// - Returns: `nil` for invalid bytes.
    private init?(_ bytes: [UInt8]) {
        var reader = MetadataReader(bytes)
        switch reader.number(UInt8.self) {
        case 1: state = .complete
        case 2: state = .building(through: nil)
        case 3:
            guard let rowID: Int64 = reader.number() else { return nil }
            state = .building(through: rowID)
        default: return nil
        }
        guard let entity: UInt32 = reader.number(), let stemming = reader.text().flatMap(SearchOptions.Stemming.init),
            let fields = reader.list({ $0.text() }), reader.isAtEnd
        else { return nil }
        name = Name(entity: entity, fields: fields, options: SearchOptions(stemming: stemming))
    }
}

extension SearchIndexEntry {
    private static func key(_ number: UInt32) -> [UInt8] { Keyspace.Metadata.searchIndex.key(number) }

    /// Reads the entry of an index.
    /// - Throws: `corrupt`.
    init(_ number: UInt32, _ snapshot: any EngineSnapshot, location: String) throws {
        guard let entry = try SealedValue.get(Self.key(number), snapshot).flatMap(SearchIndexEntry.init) else {
            throw Self.unreadable(location)
        }
        self = entry
    }

    private static func unreadable(_ location: String) -> StoreError {
        StoreError(.corrupt, "The state of a full-text index of \(location) cannot be read.", location: location)
    }

    /// Returns the entries of all indexes, by their numbers.
    /// - Throws: `corrupt`.
    static func all(_ snapshot: any EngineSnapshot, location: String) throws -> [UInt32: SearchIndexEntry] {
        var found: [UInt32: SearchIndexEntry] = [:]
        try snapshot.forEach(.searchIndex) { number, value in
            guard let entry = SealedValue.opened(key(number), value).flatMap(SearchIndexEntry.init) else { throw unreadable(location) }
            found[number] = entry
        }
        return found
    }

    func write(_ number: UInt32, _ writer: any EngineWriter) throws { try SealedValue.put(Self.key(number), bytes, writer) }

    /// Removes the entry of an index, and marks its pages for removal.
    static func drop(_ number: UInt32, _ writer: any EngineWriter) throws {
        try writer.remove(key(number))
        try PendingRemoval.mark(.search, number, writer)
        try PendingRemoval.mark(.searchChunk, number, writer)
    }

    /// Returns a number that no index has, and none whose pages are still to be removed.
    /// - Parameter taken: The numbers of indexes.
    static func firstFree(_ taken: some Sequence<UInt32>, _ snapshot: any EngineSnapshot) throws -> UInt32 {
        let removed = try PendingRemoval.all(snapshot).filter { [Keyspace.search.rawValue, Keyspace.searchChunk.rawValue].contains($0[0]) }
            .compactMap { prefix in
                prefix.withUnsafeBytes { BigEndianInteger.read(UnsafeRawBufferPointer(rebasing: $0[1...]), as: UInt32.self) }
            }
        return max(taken.max() ?? 0, removed.max() ?? 0) + 1
    }
}
