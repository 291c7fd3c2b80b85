import PolyStoreBackend
import PolyStoreQuery

/// Verifies a whole store and reports inconsistencies: damaged records, missing or dangling index entries, one-sided links, chunks without a record, wrong
/// counts.
struct StoreVerifier {
    private let reader: SnapshotReader
    private let layout: StoreLayout
    private var found: [String] = []
    /// The maximum number of findings.
    private static let most = 1000

    /// The prefixes of keys that are not part of the store: those of an unfinished migration, and those that are still to be removed.
    private let unused: Set<[UInt8]>
    private let report: MaintenanceReport
    /// The expected number of records and index entries. Every key is read at least twice.
    private let expectedKeys: Int
    private let progress = Progress()

    /// The progress of the verification. A class, because the checks report from within closures.
    private final class Progress {
        var activity = ""
        var keys = 0
    }

    init(_ reader: SnapshotReader, expectedKeys: Int, report: @escaping MaintenanceReport) throws {
        self.reader = reader
        self.expectedKeys = expectedKeys
        self.report = report
        layout = reader.layout
        unused = Set(try PendingRemoval.all(reader.snapshot)).union(
            try MigrationJournal.read(reader.snapshot, location: reader.layout.location)?.stagedPrefixes ?? [])
    }

    mutating func findings() throws -> [String] {
        try attempt("schema") { try $0.checkModel() }
        for entity in layout.schema.entities { try attempt(entity.name) { try $0.checkRecords(entity) } }
        for entity in layout.schema.entities {
            for (position, index) in layout.indexes[entity.index].enumerated() {
                try attempt(index.index.name) { verifier in
                    if try verifier.reader.state(entity, position).phase == .readable { try verifier.checkEntries(index) }
                }
            }
        }
        for index in layout.searchIndexes { try attempt(index.name(in: layout.schema)) { try $0.checkTexts(index) } }
        for table in layout.schema.links { try attempt(table.name) { try $0.checkLinks(table) } }
        try attempt("long values") { try $0.checkChunks() }
        try attempt("named values") { try $0.checkValues() }
        try attempt("change log") { try $0.checkLog() }
        try attempt("keys") { try $0.checkSpaces() }
        return found
    }

    /// Runs one check. Damage that ends the check becomes a finding, and the other checks still run.
    private mutating func attempt(_ activity: String, _ check: (inout StoreVerifier) throws -> Void) throws {
        progress.activity = activity
        try reportProgress()
        do { try check(&self) } catch let error as StoreError where error.code == .corrupt {
            let sentence = error.underlying.map { "\(error.message) (\($0))" } ?? error.message
            if !found.contains(sentence) { add(sentence) }
        }
    }

    private mutating func add(_ sentence: String) { if found.count < Self.most { found.append(sentence) } }

    /// Reports the keys that were read, in the second half of the work; see ``KeyValueBackend/verify(reporting:)``. Links and long values are not expected, so
    /// the number of keys can exceed the expectation.
    private func reportProgress() throws {
        let completed = min(progress.keys / 2, max(0, expectedKeys - 1))
        try report(MaintenanceProgress(activity: progress.activity, completed: expectedKeys + completed, total: 2 * expectedKeys))
    }

    /// Calls a closure for every key with a prefix.
    private func forEach(_ prefix: [UInt8], _ body: (EngineCursor) throws -> Void) throws {
        let cursor = try reader.snapshot.cursor()
        defer { cursor.close() }
        try prefix.withUnsafeBytes { prefix in
            var more = try cursor.seek(prefix)
            while more, cursor.key.starts(with: prefix) {
                progress.keys += 1
                if progress.keys % 1024 == 0 { try reportProgress() }
                try body(cursor)
                more = try cursor.next()
            }
        }
    }

    /// Checks the model against its hash. Opening a store checks only the hash.
    private mutating func checkModel() throws {
        let model = try SealedValue.get(Keyspace.Metadata.schema.key(1), reader.snapshot)
        let identity = try SealedValue.get(Keyspace.Metadata.identity.key(), reader.snapshot).flatMap(KeyValueStoreIdentity.init)
        guard let model, let description = try? SchemaDescription(encoded: model), description.versionHash == identity?.schemaHash
        else { return add("The store's model does not have its hash.") }
    }

    /// Checks that each record can be read and has an entry in every index, and that the statistics contain the number of records.
    private mutating func checkRecords(_ entity: Entity) throws {
        let keys = KeyWriter()
        let decoder = StoredRecordDecoder(layout)
        var count: Int64 = 0
        var sentences: [String] = []
        // Also if the scan throws.
        defer { for sentence in sentences { add(sentence) } }
        let toOnes: [(relationship: Relationship, field: Int)] = entity.relationships.compactMap { relationship in
            if case .foreignKey(let field) = relationship.storage { (relationship, field) } else { nil }
        }
        let readable = try layout.indexes[entity.index].enumerated().filter { try reader.state(entity, $0.offset).phase == .readable }
        try forEach([Keyspace.record.rawValue] + BigEndianInteger.bytes(layout.number(of: entity))) { cursor in
            guard cursor.key.count == KeyWriter.recordKeySize else {
                sentences.append("A key of \(entity.name) has \(cursor.key.count) bytes instead of \(KeyWriter.recordKeySize).")
                return
            }
            count += 1
            let id = cursor.key.id(at: 5)
            do {
                let record = try decoder.decode(cursor.value, entity, id, key: cursor.key, reader.snapshot)
                // Checked when the record is no longer used, because reading another may invalidate it.
                var backs: [(relationship: Relationship, target: Int64)] = []
                for field in entity.fields where !field.isOptional && record.isNull(field.index) {
                    sentences.append("\(entity.name) \(id) has no value for \(field.name), which is not optional.")
                }
                for (relationship, field) in toOnes where !record.isNull(field) {
                    let (target, destination) = (record.integer(field), layout.schema.entities[relationship.destination])
                    if try !reader.exists(destination, target) {
                        let what = "\(relationship.name) to \(destination.name) \(target), which is not in the store."
                        sentences.append("\(entity.name) \(id) refers by \(what)")
                    }
                    backs.append((relationship, target))
                }
                for (_, index) in readable {
                    index.key(record, id, keys)
                    let key = keys.bytes
                    let entry = try reader.snapshot.get(key)
                    if entry.flatMap({ entry in key.withUnsafeBytes { index.id($0, entry) } }) != id {
                        sentences.append("The index \(index.index.name) has no entry for \(entity.name) \(id).")
                    }
                }
                for (relationship, target) in backs {
                    guard let inverse = relationship.inverse else { continue }
                    let destination = layout.schema.entities[relationship.destination]
                    let back = destination.relationships[inverse]
                    guard case .foreignKey(let field) = back.storage, let other = try reader.record(destination, target),
                        other.isNull(field) || other.integer64(field) != id
                    else { continue }
                    sentences.append(
                        "\(entity.name) \(id) leads by \(relationship.name) to \(destination.name) \(target), whose inverse \(back.name) does not lead back."
                    )
                }
            } catch let error as StoreError where error.code == .corrupt {
                sentences.append(error.message)
            }
        }
        let storedCount = try reader.recordCount(entity)
        if storedCount != count { add("There are \(count) records of \(entity.name), and the statistics say \(storedCount).") }
    }

    /// Checks that each entry matches its record.
    private mutating func checkEntries(_ index: KeyIndex) throws {
        let keys = KeyWriter()
        var sentences: [String] = []
        // Also if the scan throws.
        defer { for sentence in sentences { add(sentence) } }
        try forEach(index.prefix) { cursor in
            guard let id = index.id(cursor.key, cursor.value) else {
                sentences.append("An entry of the index \(index.index.name) cannot be read.")
                return
            }
            do {
                guard let record = try reader.record(index.entity, id) else {
                    sentences.append("The index \(index.index.name) leads to \(index.entity.name) \(id), which is not there.")
                    return
                }
                index.key(record, id, keys)
                if keys.bytes.withUnsafeBytes({ Order.of($0, cursor.key) }) != 0 {
                    sentences.append("The index \(index.index.name) has an entry for \(index.entity.name) \(id) under another value.")
                }
            } catch let error as StoreError where error.code == .corrupt {
                // Reported by the check of the records.
            }
        }
    }

    /// Checks that a full-text index agrees with the texts.
    private mutating func checkTexts(_ index: StoredSearchIndex) throws {
        let entity = layout.schema.entities[index.entity]
        let reader = reader
        let found = try reader.search?.findings(
            index,
            check: {
                progress.keys += 1
                if progress.keys % 1024 == 0 { try reportProgress() }
            },
            records: { body in
                let cursor = try RecordCursorOverRange(reader, entity, ids: nil)
                defer { cursor.close() }
                while try cursor.next() { try body(cursor.rowID, cursor.record) }
            })
        for sentence in found ?? [] { add(sentence) }
    }

    /// Checks that each link is stored from both sides and that both objects exist.
    private mutating func checkLinks(_ table: LinkTable) throws {
        let number = layout.number(of: table)
        let keys = KeyWriter()
        var sentences: [String] = []
        // Also if the scan throws.
        defer { for sentence in sentences { add(sentence) } }
        for (space, other) in [(Keyspace.link, Keyspace.linkInverse), (.linkInverse, .link)] {
            let isForward = (space == .link) != layout.isLinkReversed(table.index)
            let near = layout.schema.entities[isForward ? table.source : table.target]
            let isOrdered = isForward ? table.ordersTargets : table.ordersSources
            try forEach([space.rawValue] + BigEndianInteger.bytes(number)) { cursor in
                guard cursor.key.count == 21, cursor.value.count == (isOrdered ? 8 : 0) else {
                    sentences.append("An entry of \(table.name) cannot be read.")
                    return
                }
                let (from, to) = (cursor.key.id(at: 5), cursor.key.id(at: 13))
                if try reader.snapshot.get(keys.linkBytes(other, number, to, from)) == nil {
                    sentences.append("\(table.name) links \(from) with \(to) from one side only.")
                }
                // A pair that is stored from one side only is reported by the check of that side.
                if table.isSymmetric, space == .link, try reader.snapshot.get(keys.linkBytes(.link, number, to, from)) == nil,
                    try reader.snapshot.get(keys.linkBytes(.linkInverse, number, from, to)) == nil
                {
                    sentences.append("\(table.name) is symmetric and links \(from) with \(to), but not the other way round.")
                }
                if try !reader.exists(near, from) {
                    sentences.append("\(table.name) links \(near.name) \(from), which is not in the store.")
                }
            }
        }
    }

    /// Checks that each chunk belongs to a record with a chunked value.
    private mutating func checkChunks() throws {
        var sentences: [String] = []
        // Also if the scan throws.
        defer { for sentence in sentences { add(sentence) } }
        let keys = KeyWriter()
        let byNumber = Dictionary(layout.schema.entities.map { (layout.number(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
        try forEach([Keyspace.blobChunk.rawValue]) { cursor in
            if unused.contains([UInt8](cursor.key.prefix(5))) { return }
            guard cursor.key.count == 21,
                let entity = byNumber[UInt32(bigEndian: cursor.key.loadUnaligned(fromByteOffset: 1, as: UInt32.self))]
            else {
                sentences.append("A chunk of a long value belongs to no entity.")
                return
            }
            let id = cursor.key.id(at: 5)
            let field = Int(UInt32(bigEndian: cursor.key.loadUnaligned(fromByteOffset: 13, as: UInt32.self)))
            let number = Int(UInt32(bigEndian: cursor.key.loadUnaligned(fromByteOffset: 17, as: UInt32.self)))
            let stored = try reader.snapshot.get(keys.recordBytes(layout.number(of: entity), id))
            let body = stored.map { StoredRecord.body($0, layout.traits) }
            let old = try stored.flatMap { try reader.decoder.oldLayout(of: $0, entity, id) }
            let types = old?.types ?? entity.fields.map(\.type)
            let chunked = body.flatMap { StoredRecord.isChunked($0) ? StoredRecord.chunked($0, types)?.fields : nil } ?? []
            let isUsed = chunked.contains { $0.field == field && number * layout.traits.maximumPieceSize < $0.length }
            if !isUsed { sentences.append("A chunk of a long value of \(entity.name) \(id) belongs to nothing.") }
        }
    }

    /// Checks the name and the checksum of each named value.
    private mutating func checkValues() throws {
        var sentences: [String] = []
        // Also if the scan throws.
        defer { for sentence in sentences { add(sentence) } }
        try reader.forEachValue { key, value in
            guard let name = String(validating: key.dropFirst(2), as: UTF8.self), (try? NamedValue.check(name: name)) != nil else {
                sentences.append("The name of a value cannot be read.")
                return
            }
            guard let bytes = SealedValue.opened([UInt8](key), value), bytes.count <= NamedValue.longestValue else {
                sentences.append("The value \"\(name)\" cannot be read.")
                return
            }
        }
    }

    /// Checks that each entry of the change log has all of its pieces, with valid checksums.
    private mutating func checkLog() throws {
        let bounds = try reader.logBounds()
        var sentences: [String] = []
        // Also if the scan throws.
        defer { for sentence in sentences { add(sentence) } }
        /// The next expected piece of an entry with several pieces.
        var expected: ChangeLog.PieceKey?
        try forEach([Keyspace.changeLog.rawValue]) { cursor in
            guard let key = ChangeLog.PieceKey(cursor.key), key.position > bounds.removedThrough else {
                sentences.append("A key of the change log cannot be read.")
                return
            }
            let piece = ChangeLog.Piece([UInt8](cursor.key), cursor.value)
            if let missing = expected, missing != key {
                sentences.append("Entry \(missing.position) of the change log is not complete.")
            } else if expected == nil, key.piece != 0 {
                sentences.append("Entry \(key.position) of the change log has no beginning.")
            }
            if piece == nil { sentences.append("Entry \(key.position) of the change log cannot be read.") }
            expected = piece.flatMap { key.piece + 1 < $0.count ? ChangeLog.PieceKey(position: key.position, piece: key.piece + 1) : nil }
        }
        if let missing = expected { sentences.append("Entry \(missing.position) of the change log is not complete.") }
    }

    /// Checks that no key has an unknown space or an unused number.
    private mutating func checkSpaces() throws {
        let entities = Set(layout.schema.entities.map { layout.number(of: $0) })
        let links = Set(layout.schema.links.map { layout.number(of: $0) })
        var indexes: Set<[UInt8]> = []
        try reader.snapshot.forEach(.indexState) { number, value in
            guard let state = IndexState(value) else { return }
            indexes.insert([(state.isUnique ? Keyspace.uniqueIndex : .index).rawValue] + BigEndianInteger.bytes(number))
        }
        let searchIndexes = try SearchIndexEntry.all(reader.snapshot, location: layout.location)
        var unknownKeys = 0
        try forEach([]) { cursor in
            guard let first = cursor.key.first, let space = Keyspace(rawValue: first) else {
                unknownKeys += 1
                return
            }
            if space == .changeLog { return }
            if space == .metadata {
                if cursor.key.count < 2 || Keyspace.Metadata(rawValue: cursor.key[1]) == nil { unknownKeys += 1 }
                return
            }
            guard cursor.key.count > 5 else {
                unknownKeys += 1
                return
            }
            if unused.contains([UInt8](cursor.key.prefix(5))) { return }
            let number = UInt32(bigEndian: cursor.key.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
            let isKnown =
                switch space {
                case .record, .blobChunk: entities.contains(number)
                case .index, .uniqueIndex: indexes.contains([UInt8](cursor.key.prefix(5)))
                case .search, .searchChunk: searchIndexes[number] != nil
                default: links.contains(number)
                }
            if !isKnown { unknownKeys += 1 }
        }
        if unknownKeys > 0 { add("\(unknownKeys) keys belong to no entity, index or link table of the model.") }
    }
}
