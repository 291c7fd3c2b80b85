import PolyStoreBackend
import PolyStoreQuery

/// The contents of a snapshot, read in the order of conversions: cursors and small batches, so that memory does not grow with the store.
struct StoreContents {
    let reader: any ReadTransaction
    let schema: ResolvedSchema
    /// The named value that is not part of the contents: the state of a conversion.
    static let stateName = "\(NamedValue.reservedPrefix)conversion"

    /// Calls a function with each record of an entity, in ascending order of row ids.
    func records(_ entity: Entity, _ body: (Int64, RecordView) throws -> Void) throws {
        let cursor = try reader.fetch(FetchRequest(entity))
        defer { cursor.close() }
        while try cursor.next() { try body(cursor.rowID, cursor.record) }
    }

    /// The bounds of the number of sources whose links are read with one call, and the number of pairs that it should return.
    private static let sources = (least: 16, most: 4096, pairs: 32_768)

    /// Calls a function with the targets of each source of a link table that has any, in ascending order of the sources, and with their positions if the relationship is ordered.
    ///
    /// The targets of one source are in memory together, because the contract returns them so.
    func links(_ table: LinkTable, isReversed: Bool, _ body: (Int64, [Int64], [Int64]) throws -> Void) throws {
        let relationship = try schema.relationship(over: table, isReversed: isReversed)
        let cursor = try reader.fetch(FetchRequest(schema.entities[relationship.source], onlyIDs: true))
        defer { cursor.close() }
        var size = 256
        var ids: [Int64] = []
        var hasMore = true
        while hasMore {
            ids.removeAll(keepingCapacity: true)
            while ids.count < size {
                hasMore = try cursor.next()
                guard hasMore else { break }
                ids.append(cursor.rowID)
            }
            if ids.isEmpty { return }
            let found = try reader.related(relationship, of: ids)
            var pairs = 0
            for id in ids {
                let targets = found[id]
                pairs += targets.count
                if !targets.isEmpty { try body(id, targets, relationship.isOrdered ? found.positions(of: id) : []) }
            }
            size = pairs > Self.sources.pairs ? max(Self.sources.least, size / 2) : min(Self.sources.most, size * 2)
        }
    }

    /// Calls a function with each entry of the change log, in order.
    func log(_ body: (LogEntry) throws -> Void) throws {
        var position: Int64 = 0
        var limit = 64
        while true {
            let entries = try reader.logEntries(after: position, limit: limit)
            guard let last = entries.last else { return }
            for entry in entries { try body(entry) }
            position = last.position
            let bytes = entries.reduce(0) { $0 + $1.bytes.count }
            limit = bytes > 1 << 20 ? max(1, limit / 2) : min(1024, limit * 2)
        }
    }

    /// Calls a function with each named value, in ascending order of the names' bytes.
    func values(_ body: (String, [UInt8]) throws -> Void) throws {
        for name in try reader.valueNames(prefix: "") where name != Self.stateName {
            if let bytes = try reader.value(named: name) { try body(name, bytes) }
        }
    }
}

/// Hashes of the units of a store.
enum UnitHashes {
    /// A field of a record, without what only other layers need: copying it touches no reference count.
    struct RecordField {
        let index: Int
        let type: PhysicalType

        init(_ field: Field) { (index, type) = (field.index, field.type.physical) }

        /// Adds the value of the field.
        @inline(__always)
        func add(_ record: RecordView, to hasher: inout ContentHasher) {
            if record.isNull(index) { return hasher.add(0x6e75_6c6c as UInt64) }
            switch type {
            case .integer: hasher.add(record.integer(index))
            case .real: hasher.add(Value.normalized(record.real(index)).bitPattern)
            case .text, .blob: hasher.add(record.bytes(index))
            }
            hasher.add(UInt64(truncatingIfNeeded: index))
        }

        /// Copies the value of the field.
        @inline(__always)
        func copy(_ record: RecordView, to builder: inout RecordBuilder) {
            if record.isNull(index) { return }
            switch type {
            case .integer: builder.setInteger(index, record.integer(index))
            case .real: builder.setReal(index, record.real(index))
            case .text, .blob: builder.setBytes(index, record.bytes(index))
            }
        }
    }

    /// Returns the hash of a record, from the values of its fields.
    @inline(__always)
    static func record(_ seed: UInt64, _ fields: [RecordField], _ rowID: Int64, _ record: RecordView) -> ContentHash {
        var hasher = ContentHasher(seed)
        hasher.add(rowID)
        for field in fields { field.add(record, to: &hasher) }
        return hasher.value
    }

    /// Returns the hash of the pairs of a source. Targets that are not ordered may come in any order.
    static func links(_ seed: UInt64, _ source: Int64, _ targets: [Int64], _ positions: [Int64]) -> ContentHash {
        var sum = ContentHash()
        for (index, target) in targets.enumerated() {
            var hasher = ContentHasher(seed)
            hasher.add(source)
            hasher.add(target)
            if index < positions.count { hasher.add(positions[index]) }
            sum &+= hasher.value
        }
        return sum
    }

    static func entry(_ seed: UInt64, _ entry: LogEntry) -> ContentHash {
        var hasher = ContentHasher(seed)
        hasher.add(entry.position)
        hasher.add(entry.version)
        entry.bytes.withUnsafeBytes { hasher.add($0) }
        return hasher.value
    }

    static func value(_ seed: UInt64, _ name: String, _ bytes: [UInt8]) -> ContentHash {
        var hasher = ContentHasher(seed)
        hasher.add(name)
        bytes.withUnsafeBytes { hasher.add($0) }
        return hasher.value
    }
}
