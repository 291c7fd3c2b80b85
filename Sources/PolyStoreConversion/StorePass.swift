import PolyStoreBackend

/// One pass over the contents of a snapshot, which computes the digest and passes each unit on.
final class StorePass {
    let contents: StoreContents
    let parts: [StorePart]
    private(set) var digest: StoreDigest
    private(set) var progress = ConversionProgress()
    private let schema: ResolvedSchema
    private let report: (ConversionProgress) throws -> Void
    private var unreported = 0

    /// - Parameters:
    ///   - reader: A snapshot, which the caller ends.
    ///   - report: Called after some thousand units. An error that it throws ends the pass.
    init(
        _ reader: any ReadTransaction, _ schema: ResolvedSchema, _ capabilities: Capabilities, activity: ConversionProgress.Activity,
        progress report: @escaping (ConversionProgress) throws -> Void
    ) throws {
        self.schema = schema
        contents = StoreContents(reader: reader, schema: schema)
        parts = StorePart.all(schema, capabilities)
        digest = StoreDigest(schema)
        self.report = report
        progress.activity = activity
        for entity in schema.entities { progress.totalObjects += try reader.count(FetchRequest(entity)) }
    }

    /// Reads everything.
    /// - Parameter sink: Receives each unit after it is part of the digest; nil for a digest alone.
    func run(_ sink: (any ContentSink)? = nil) throws {
        for (index, part) in parts.enumerated() {
            progress.part = part.name(schema)
            try report(progress)
            try sink?.begin(index, part)
            try read(part, sink)
        }
        try report(progress)
    }

    private func read(_ part: StorePart, _ sink: (any ContentSink)?) throws {
        let seed = part.seed(schema)
        switch part {
        case .records(let index): try readRecords(schema.entities[index], seed, sink)
        case .links(let table, let isReversed): try readLinks(schema.links[table], isReversed, seed, sink)
        case .log:
            try contents.log { entry in
                digest.history.add(UnitHashes.entry(seed, entry))
                try count(entry.bytes.count)
                try sink?.add(entry)
            }
        case .values:
            try contents.values { name, bytes in
                digest.namedValues.add(UnitHashes.value(seed, name, bytes))
                try count(name.utf8.count + bytes.count)
                try sink?.add(bytes, named: name)
            }
        }
    }

    private func readRecords(_ entity: Entity, _ seed: UInt64, _ sink: (any ContentSink)?) throws {
        let fields = entity.fields
        let index = entity.index
        try contents.records(entity) { rowID, record in
            digest.entities[index].add(UnitHashes.record(seed, fields, rowID, record))
            progress.objects += 1
            try count(record.count)
            try sink?.add(entity, rowID, record)
        }
    }

    private func readLinks(_ table: LinkTable, _ isReversed: Bool, _ seed: UInt64, _ sink: (any ContentSink)?) throws {
        try contents.links(table, isReversed: isReversed) { source, targets, positions in
            // A pair that is read in both directions counts once.
            digest.links[table.index].add(
                UnitHashes.links(seed, source, targets, positions), count: isReversed ? 0 : targets.count)
            try count(24 * targets.count)
            try sink?.add(table, isReversed: isReversed, source, targets, positions)
        }
    }

    private func count(_ bytes: Int) throws {
        digest.byteCount += bytes
        progress.bytes += bytes
        unreported += 1
        guard unreported >= 2000 || bytes > 1 << 20 else { return }
        unreported = 0
        try report(progress)
    }
}

/// Receives the contents of a store in the order of a ``StorePass``.
protocol ContentSink: AnyObject {
    /// Begins a part, by its position among the parts.
    func begin(_ index: Int, _ part: StorePart) throws
    func add(_ entity: Entity, _ rowID: Int64, _ record: RecordView) throws
    func add(_ table: LinkTable, isReversed: Bool, _ source: Int64, _ targets: [Int64], _ positions: [Int64]) throws
    func add(_ entry: LogEntry) throws
    func add(_ bytes: [UInt8], named name: String) throws
}
