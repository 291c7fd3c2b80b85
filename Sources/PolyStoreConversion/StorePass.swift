import PolyStoreBackend

/// One pass over the contents of a snapshot, which computes the digest and passes each unit on.
final class StorePass {
    let contents: StoreContents
    let parts: [StorePart]
    private(set) var digest: StoreDigest
    private(set) var progress = ConversionProgress()
    /// The records that are not yet part of the digest. Used by one thread, and no access overlaps another.
    @exclusivity(unchecked) private var pending = Pending()
    private let schema: ResolvedSchema
    private let report: (ConversionProgress) throws -> Void
    private var unreported = 0

    private struct Pending: BitwiseCopyable {
        var entity = 0
        var hash = ContentHash()
        var count = 0
        var bytes = 0
    }

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
    func run(_ sink: ConversionWriter? = nil) throws {
        for (index, part) in parts.enumerated() {
            progress.part = part.name(schema)
            try report(progress)
            try sink?.begin(index, part)
            try read(part, sink)
        }
        try report(progress)
    }

    private func read(_ part: StorePart, _ sink: ConversionWriter?) throws {
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

    private func readRecords(_ entity: Entity, _ seed: UInt64, _ sink: ConversionWriter?) throws {
        let fields = entity.fields.map(UnitHashes.RecordField.init)
        pending.entity = entity.index
        sink?.fields = fields
        try contents.records(entity) { rowID, record in
            pending.hash &+= UnitHashes.record(seed, fields, rowID, record)
            pending.count &+= 1
            pending.bytes &+= record.count
            if pending.count >= 2000 || pending.bytes > 1 << 20 { try settle() }
            try sink?.add(entity, rowID, record)
        }
        try settle()
    }

    /// Adds the pending records to the digest.
    private func settle() throws {
        digest.entities[pending.entity].add(pending.hash, count: pending.count)
        digest.byteCount += pending.bytes
        progress.objects += pending.count
        progress.bytes += pending.bytes
        (pending.hash, pending.count, pending.bytes) = (ContentHash(), 0, 0)
        try report(progress)
    }

    /// The sum of all hashes so far.
    var sum: ContentHash {
        var sum = digest.sum
        sum &+= pending.hash
        return sum
    }

    private func readLinks(_ table: LinkTable, _ isReversed: Bool, _ seed: UInt64, _ sink: ConversionWriter?) throws {
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
