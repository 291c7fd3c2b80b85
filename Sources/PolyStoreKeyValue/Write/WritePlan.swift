import PolyStoreBackend
import PolyStoreCollections
import PolyStoreQuery

/// Translates a change set into keys: computes and checks everything first, then writes everything. Used by one transaction.
final class WritePlan {
    private let reader: SnapshotReader
    private let layout: StoreLayout
    private let keys = KeyWriter()
    private let merger = RecordMerger()
    /// The memory of keys and values; sufficient for a few changes.
    private let arena = RecordArena(capacity: 1024)
    /// The lists of the changed entities, by entity.
    @exclusivity(unchecked) private var entities = SparseArray<EntityLists>()
    /// The lists of the changed link tables, by link table.
    @exclusivity(unchecked) private var links = SparseArray<LinkLists>()
    @exclusivity(unchecked) private var states: WriteList
    @exclusivity(unchecked) private var values: [ChangeSet.ValueChange] = []
    /// New entries of unique indexes with truncated keys, which do not determine whether the values are equal.
    @exclusivity(unchecked) private var cutEntries: [CutEntry] = []
    /// The numbers of indexes that got their first truncated entry.
    @exclusivity(unchecked) private var newlyCut: Set<UInt32> = []
    /// The changes of the texts in full-text indexes.
    @exclusivity(unchecked) private(set) var searchChanges: [SearchTextChange] = []
    var changesIndexStates: Bool { !states.isEmpty }

    /// The number of changes up to which fixed costs exceed the cost per change.
    private static let fewChanges = 64
    @exclusivity(unchecked) private var isSmall = true

    /// A truncated entry of a unique index.
    private struct CutEntry {
        let index: KeyIndex
        let id: Int64
        let components: [UInt8]
        let values: [Value]
    }

    /// The lists of one entity. A class, so that a list is not copied while it is changed.
    private final class EntityLists {
        let entity: Entity
        let keyIndexes: [KeyIndex]
        // Used by one transaction, and no access spans more than one statement.
        @exclusivity(unchecked) var records: WriteList
        @exclusivity(unchecked) var chunks: WriteList
        /// The entries of each of ``keyIndexes``.
        @exclusivity(unchecked) var indexes: [WriteList]
        /// The change of the record count.
        @exclusivity(unchecked) var growth: Int64 = 0

        init(_ entity: Entity, _ layout: StoreLayout, _ arena: RecordArena) {
            self.entity = entity
            keyIndexes = layout.indexes[entity.index]
            records = WriteList(
                arena, sealedHead: layout.traits.checksumsRecords ? entity.layout.minimumSize : nil,
                layoutNumber: layout.layoutNumber(of: entity))
            chunks = WriteList(arena)
            indexes = Array(repeating: chunks, count: keyIndexes.count)
        }
    }

    /// The lists of one link table: its keys, and those of the inverse direction.
    private final class LinkLists {
        @exclusivity(unchecked) var links: WriteList
        @exclusivity(unchecked) var inverses: WriteList

        init(_ arena: RecordArena) {
            links = WriteList(arena)
            inverses = links
        }
    }

    init(_ reader: SnapshotReader) {
        self.reader = reader
        layout = reader.layout
        // The keys of index states share only the space and the kind and differ in the number.
        states = WriteList(arena, prefixCount: 2)
    }

    /// Returns the lists of an entity, which are created on first use.
    private func lists(of entity: Entity) -> EntityLists {
        if let known = entities[entity.index] { return known }
        let new = EntityLists(entity, layout, arena)
        entities.set(new, at: entity.index)
        return new
    }

    /// Returns the lists of a link table, which are created on first use.
    private func lists(ofLinks table: Int) -> LinkLists {
        if let known = links[table] { return known }
        let new = LinkLists(arena)
        links.set(new, at: table)
        return new
    }

    /// The changes of the record counts, by entity.
    var growth: [(entity: Int, count: Int64)] { entities.map { ($0.index, $0.object.growth) } }

    // MARK: Computing keys

    /// - Throws: `notFound`; `constraint` for null in a required field.
    func add(_ changes: ChangeSet) throws {
        isSmall = changes.changes.count + changes.links.count <= Self.fewChanges
        if changes.changes.count > Self.fewChanges {
            for index in Set(changes.changes.lazy.map(\.entity)) {
                let (entity, count) = (layout.schema.entities[index], changes.changes.count)
                let lists = lists(of: entity)
                lists.records.reserve(count, keySize: KeyWriter.recordKeySize)
                for (position, index) in lists.keyIndexes.enumerated() {
                    lists.indexes[position].reserve(count, keySize: index.likelyKeySize)
                }
            }
        }
        for change in changes.changes {
            let lists = lists(of: layout.schema.entities[change.entity])
            switch change.kind {
            case .insert: try insert(change.rowID, changes.record(change), lists)
            case .update: try update(change.rowID, changes.record(change), change.mask, lists)
            case .delete: try delete(change.rowID, lists)
            }
        }
        // The last of several changes of a pair applies.
        var last: [LinkPair: CombinedLinkChange] = [:]
        for link in changes.links {
            last[LinkPair(table: link.table, source: link.source, target: link.target), default: CombinedLinkChange()].add(link)
        }
        for (pair, combined) in last { try add(pair, combined) }
        values = changes.values
    }

    private struct LinkPair: Hashable {
        let table: Int
        let source: Int64
        let target: Int64
    }

    /// The combined effect of all changes of a pair.
    private struct CombinedLinkChange {
        var isAddition = true
        /// A Boolean value that indicates whether the stored positions are obsolete.
        var discardsPositions = false
        var targetPosition: Int64?
        var sourcePosition: Int64?

        mutating func add(_ change: ChangeSet.LinkChange) {
            if change.isAddition {
                isAddition = true
                targetPosition = change.targetPosition ?? targetPosition
                sourcePosition = change.sourcePosition ?? sourcePosition
            } else {
                (isAddition, discardsPositions, targetPosition, sourcePosition) = (false, true, nil, nil)
            }
        }
    }

    private func insert(_ id: Int64, _ record: RecordView, _ lists: EntityLists) throws {
        try require(lists.entity, id, record, nil)
        try put(id, record, mustBeNew: true, lists)
        for (position, index) in lists.keyIndexes.enumerated() { try enter(index, position, id, record, &lists.indexes[position]) }
        search(id, lists.entity, old: nil, new: record)
        lists.growth += 1
    }

    private func update(_ id: Int64, _ changed: RecordView, _ mask: FieldMask, _ lists: EntityLists) throws {
        let entity = lists.entity
        guard let old = try reader.record(entity, id) else { throw notFound(entity, id) }
        try require(entity, id, changed, mask)
        let new = try merger.merge(entity, old, changed, mask)
        search(id, entity, old: old, new: new, mask)
        try removeChunks(id, old, lists)
        try put(id, new, mustBeNew: false, lists)
        for (position, index) in lists.keyIndexes.enumerated() where !index.mask.isDisjoint(with: mask) {
            keys.removeAll()
            _ = index.key(old, id, keys)
            let before = keys.bytes
            _ = index.key(new, id, keys)
            if before.withUnsafeBytes({ Order.of($0, keys.raw) == 0 }) { continue }
            before.withUnsafeBytes { lists.indexes[position].add($0, nil) }
            try enter(index, position, id, new, &lists.indexes[position])
        }
    }

    private func delete(_ id: Int64, _ lists: EntityLists) throws {
        let entity = lists.entity
        guard let old = try reader.record(entity, id) else { throw notFound(entity, id) }
        for (position, index) in lists.keyIndexes.enumerated() {
            _ = index.key(old, id, keys)
            lists.indexes[position].add(keys.raw, nil)
        }
        search(id, entity, old: old, new: nil)
        try removeChunks(id, old, lists)
        lists.records.add(keys.record(layout.number(of: entity), id), nil)
        lists.growth -= 1
    }

    /// Collects the changed texts of an object.
    private func search(_ id: Int64, _ entity: Entity, old: RecordView?, new: RecordView?, _ fields: FieldMask? = nil) {
        guard let search = reader.search else { return }
        let affected = search.affected(entity.index, by: fields)
        if !affected.isEmpty { search.collect(id, of: affected, old: old, new: new, into: &searchChanges) }
    }

    private func notFound(_ entity: Entity, _ id: Int64) -> StoreError {
        StoreError(.notFound, "\(entity.name) \(id) is not in the store.", entity: entity.name, rowID: id, location: layout.location)
    }

    /// Returns an object in words, for errors. The caller does not know the row ids of objects that the change set inserts.
    private func described(_ entity: Entity, _ id: Int64) -> String {
        let isNew =
            entities[entity.index].map { lists in
                lists.records.entries.contains { $0.mustBeNew && lists.records.key($0).id(at: 5) == id }
            } ?? false
        return isNew ? "a new object" : "object \(id)"
    }

    /// Checks that required fields have a value.
    private func require(_ entity: Entity, _ id: Int64, _ record: RecordView, _ mask: FieldMask?) throws {
        for field in entity.fields where !field.isOptional && record.isNull(field.index) && mask?.contains(field.index) ?? true {
            throw StoreError(
                .constraint,
                "\(entity.name).\(field.name) of \(mask == nil ? "a new object" : "object \(id)") has no value, and it is not optional.",
                entity: entity.name,
                attribute: field.name, rowID: id)
        }
    }

    /// A chunk of a long value, which is stored under its own key.
    private struct NewChunk {
        let field: Int
        let number: Int
        let bytes: [UInt8]
    }

    private func put(_ id: Int64, _ record: RecordView, mustBeNew: Bool, _ lists: EntityLists) throws {
        let entity = lists.entity
        let number = layout.number(of: entity)
        let key = keys.record(number, id)
        let arena = lists.records.arena
        let offset = arena.append(key)
        let keyCount = key.count
        if mustBeNew, record.count <= layout.traits.maximumPieceSize {
            // The record stays in the change set as long as the plan exists.
            return lists.records.add(
                at: offset, keyCount: keyCount, valueCount: record.count, mustBeNew: true, record: record.bytes.baseAddress)
        }
        // The chunks of long values follow the record in the same arena, so they are kept separately until it is complete.
        var chunks: [NewChunk] = []
        let format = layout.layoutNumber(of: entity)
        let count = try StoredRecord.append(record, entity, number: format, key: key, traits: layout.traits, to: arena) {
            field, number, bytes in
            chunks.append(NewChunk(field: field, number: number, bytes: [UInt8](bytes)))
        }
        lists.records.add(at: offset, keyCount: keyCount, valueCount: count, mustBeNew: mustBeNew)
        for chunk in chunks {
            let key = keys.chunk(number, id, field: chunk.field, chunk.number)
            let arena = lists.chunks.arena
            let offset = arena.append(key)
            let count = chunk.bytes.withUnsafeBytes { Chunk.seal($0, key, layout.traits, into: arena) }
            lists.chunks.add(at: offset, keyCount: key.count, valueCount: count)
        }
    }

    /// Removes the chunks of an object's long values, except those that are written again.
    private func removeChunks(_ id: Int64, _ old: RecordView, _ lists: EntityLists) throws {
        let entity = lists.entity
        if layout.layoutNumber(of: entity) != 0, let fields = try reader.oldChunks(entity, id) {
            // With the field indexes of the layout in which the record was written.
            for field in fields { removeChunks(id, field.field, field.length, lists) }
            return
        }
        guard old.count > layout.traits.maximumPieceSize else { return }
        for field in entity.fields where field.type.fixedWidth == 0 && !old.isNull(field.index) {
            let count = old.bytes(field.index).count
            guard count > layout.traits.maximumPieceSize else { continue }
            removeChunks(id, field.index, count, lists)
        }
    }

    private func removeChunks(_ id: Int64, _ field: Int, _ length: Int, _ lists: EntityLists) {
        for number in 0..<((length - 1) / layout.traits.maximumPieceSize + 1) {
            lists.chunks.add(keys.chunk(layout.number(of: lists.entity), id, field: field, number), nil)
        }
    }

    /// Adds a record's entry to an index.
    private func enter(_ index: KeyIndex, _ position: Int, _ id: Int64, _ record: RecordView, _ list: inout WriteList) throws {
        let mustBeNew = index.key(record, id, keys)
        if keys.isCut { try enterCut(index, position, id, record) }
        let offset = list.arena.append(keys.raw)
        var valueCount = 0
        if index.isUnique {
            withUnsafeBytes(of: (UInt64(bitPattern: id) ^ 1 << 63).bigEndian) { _ = list.arena.append($0) }
            valueCount = 8
        }
        list.add(at: offset, keyCount: keys.count, valueCount: valueCount, mustBeNew: mustBeNew)
    }

    private func enterCut(_ index: KeyIndex, _ position: Int, _ id: Int64, _ record: RecordView) throws {
        var state = try reader.state(index.entity, position)
        if !state.holdsCutEntries, newlyCut.insert(index.number).inserted {
            state.holdsCutEntries = true
            let (key, value) = (Keyspace.Metadata.indexState.key(index.number), state.bytes)
            key.withUnsafeBytes { key in value.withUnsafeBytes { states.add(key, $0) } }
        }
        guard let values = index.uniqueValues(record) else { return }
        cutEntries.append(CutEntry(index: index, id: id, components: [UInt8](keys.raw.dropLast(8)), values: values))
    }

    private func add(_ link: LinkPair, _ combined: CombinedLinkChange) throws {
        guard layout.schema.links.indices.contains(link.table) else {
            throw StoreError(
                .misuse, "The schema of the store \(layout.location) has no link table \(link.table).", location: layout.location)
        }
        let number = layout.linkNumber(link.table)
        let table = layout.schema.links[link.table]
        let isReversed = layout.isLinkReversed(link.table)
        let forward = keys.linkBytes(isReversed ? .linkInverse : .link, number, link.source, link.target)
        let backward = keys.linkBytes(isReversed ? .link : .linkInverse, number, link.target, link.source)
        let lists = lists(ofLinks: link.table)
        let targets = (isOrdered: table.ordersTargets, position: combined.targetPosition)
        let sources = (isOrdered: table.ordersSources, position: combined.sourcePosition)
        if isReversed {
            try enter(backward, combined, sources, &lists.links)
            try enter(forward, combined, targets, &lists.inverses)
        } else {
            try enter(forward, combined, targets, &lists.links)
            try enter(backward, combined, sources, &lists.inverses)
        }
    }

    /// Adds one side of a pair.
    private func enter(
        _ key: [UInt8], _ combined: CombinedLinkChange, _ side: (isOrdered: Bool, position: Int64?), _ list: inout WriteList
    ) throws {
        try key.withUnsafeBytes { key in
            guard combined.isAddition else { return list.add(key, nil) }
            guard side.isOrdered else { return list.add(key, UnsafeRawBufferPointer(start: nil, count: 0)) }
            var newPosition = side.position ?? 0
            if side.position == nil, !combined.discardsPositions, let stored = try reader.snapshot.get(key) {
                guard stored.count == 8 else { throw reader.corrupt("an entry of a relationship") }
                newPosition = stored.id(at: 0)
            }
            withUnsafeBytes(of: (UInt64(bitPattern: newPosition) ^ 1 << 63).bigEndian) { list.add(key, $0) }
        }
    }

    // MARK: Checking

    /// Checks that no new key or unique value already exists.
    /// - Throws: `constraint`.
    func check() throws {
        for lists in entities.lazy.map(\.object) {
            let entity = lists.entity
            lists.records.sort()
            lists.chunks.sort()
            try checkNew(lists.records) { key, _, _ in
                StoreError(
                    .constraint, "\(entity.name) \(key.id(at: 5)) is in the store already.", entity: entity.name,
                    rowID: key.id(at: 5))
            }
            for (position, index) in lists.keyIndexes.enumerated() {
                lists.indexes[position].sort()
                guard index.isUnique, !lists.indexes[position].isEmpty else { continue }
                try checkNew(lists.indexes[position]) { key, id, holder in taken(index, key, id, holder: holder) }
            }
        }
        try checkCutEntries()
        try checkUnbuilt()
        for lists in links.lazy.map(\.object) {
            lists.links.sort()
            lists.inverses.sort()
        }
    }

    private func taken(_ index: KeyIndex, _ key: UnsafeRawBufferPointer, _ id: Int64, holder: Int64) -> StoreError {
        let names = index.fields.map(\.name).joined(separator: "+")
        var components: [String] = []
        var reader = KeyReader(key, from: 5)
        for _ in index.fields {
            if case .value(let value)? = try? reader.readComponent() { components.append(value.literal) }
        }
        return StoreError(
            .constraint,
            "\(index.entity.name).\(names) must be unique, and \(components.joined(separator: ", ")) of \(described(index.entity, id)) is held by \(described(index.entity, holder)).",
            entity: index.entity.name, attribute: names, rowID: id, location: layout.location)
    }

    /// The state of the cursor with which new keys are looked up.
    private enum CursorState { case unpositioned, atKey, atEnd }

    /// Merges the new keys with the keys of the store: a lookup is needed only if the store has keys between two new ones.
    private func checkNew(
        _ list: WriteList, _ error: (_ key: UnsafeRawBufferPointer, _ id: Int64, _ holder: Int64) -> StoreError
    ) throws {
        guard list.entries.contains(where: \.mustBeNew) else { return }
        // A cursor costs more than a few lookups.
        let cursor = list.entries.count > 8 ? try reader.snapshot.cursor() : nil
        defer { cursor?.close() }
        var state = CursorState.unpositioned
        for (position, entry) in list.entries.enumerated() where entry.mustBeNew {
            let key = list.key(entry)
            if position > 0, list.sameKey(list.entries[position - 1], entry) {
                // Released within the change set, or claimed twice.
                if list.entries[position - 1].valueCount < 0 { continue }
                throw error(key, Self.id(list.value(entry)), Self.id(list.value(list.entries[position - 1])))
            }
            guard let cursor else {
                if let found = try reader.snapshot.get(key) { throw error(key, Self.id(list.value(entry)), Self.id(found)) }
                continue
            }
            if state == .unpositioned || state == .atKey && Order.of(cursor.key, key) < 0 { state = try cursor.seek(key) ? .atKey : .atEnd }
            if state == .atKey, Order.of(cursor.key, key) == 0 {
                throw error(key, Self.id(list.value(entry)), Self.id(cursor.value))
            }
        }
    }

    /// Returns the row id in an entry of a unique index; 0 for a record.
    private static func id(_ value: UnsafeRawBufferPointer?) -> Int64 { value.map { $0.count == 8 ? $0.id(at: 0) : 0 } ?? 0 }

    /// Checks unique values with truncated keys: those with the same key are compared completely.
    private func checkCutEntries() throws {
        for (position, entry) in cutEntries.enumerated() {
            let key = entry.components
            for other in cutEntries[..<position]
            where other.index === entry.index && other.components == key && other.values == entry.values {
                throw key.withUnsafeBytes { taken(entry.index, $0, entry.id, holder: other.id) }
            }
            let position = layout.indexes[entry.index.entity.index].firstIndex { $0 === entry.index } ?? 0
            guard let list = entities[entry.index.entity.index]?.indexes[position] else { continue }
            let cursor = try reader.snapshot.cursor()
            defer { cursor.close() }
            var more = try key.withUnsafeBytes { try cursor.seek($0) }
            while more, key.withUnsafeBytes({ cursor.key.starts(with: $0) }) {
                let found = [UInt8](cursor.key)
                if let holder = entry.index.id(cursor.key, cursor.value), holder != entry.id, !list.removes(found),
                    let record = try reader.record(entry.index.entity, holder), entry.index.uniqueValues(record) == entry.values
                {
                    throw key.withUnsafeBytes { taken(entry.index, $0, entry.id, holder: holder) }
                }
                more = try cursor.next()
            }
        }
    }

    /// Checks a unique index that is being built against the records that it does not cover yet.
    private func checkUnbuilt() throws {
        for lists in entities.lazy.map(\.object) {
            for (position, index) in lists.keyIndexes.enumerated() where index.isUnique {
                let list = lists.indexes[position]
                guard !list.isEmpty, try reader.state(lists.entity, position).phase == .writeOnly else { continue }
                try checkUnbuilt(index, list)
            }
        }
    }

    private func checkUnbuilt(_ index: KeyIndex, _ list: WriteList) throws {
        var claimed: [[UInt8]: Int64] = [:]
        for (position, entry) in list.entries.enumerated() where entry.mustBeNew {
            // Released within the change set.
            if position > 0, list.sameKey(list.entries[position - 1], entry) { continue }
            claimed[[UInt8](list.key(entry))] = Self.id(list.value(entry))
        }
        let cut = cutEntries.filter { $0.index === index }
        if claimed.isEmpty && cut.isEmpty { return }
        let keys = KeyWriter()
        let cursor = try RecordCursorOverRange(reader, index.entity, ids: try IndexBuilder.unbuilt(index, reader))
        defer { cursor.close() }
        while try cursor.next() {
            if index.key(cursor.record, cursor.rowID, keys) {
                if let id = claimed[keys.bytes], id != cursor.rowID { throw taken(index, keys.raw, id, holder: cursor.rowID) }
            } else if keys.isCut, !cut.isEmpty, let values = index.uniqueValues(cursor.record), !list.removes(keys.bytes),
                let entry = cut.first(where: { $0.id != cursor.rowID && $0.values == values })
            {
                throw taken(index, keys.raw, entry.id, holder: cursor.rowID)
            }
        }
    }

    // MARK: Writing

    /// Removes the named values, which a migration keeps until its end.
    func dropValues() { values = [] }

    func write(to writer: any EngineWriter) throws {
        for value in values {
            let key = Keyspace.Metadata.value.key(named: value.name)
            if let bytes = value.bytes { try SealedValue.put(key, bytes, writer) } else { try writer.remove(key) }
        }
        if isSmall, entities.allSatisfy({ $0.object.chunks.isEmpty }) { try writeTogether(to: writer) } else { try writeLists(to: writer) }
    }

    /// Writes all lists as one run: for a few keys, an engine then has the overhead of one list instead of several.
    private func writeTogether(to writer: any EngineWriter) throws {
        var all = WriteList(RecordArena(capacity: 1024), prefixCount: 0, capacity: 16)
        all.append(states)
        for changed in entities { all.append(changed.object.records) }
        for changed in entities {
            for list in changed.object.indexes { all.append(list) }
        }
        for changed in links { all.append(changed.object.links) }
        for changed in links { all.append(changed.object.inverses) }
        try all.write(to: writer)
    }

    /// Writes each list in the order of the keys: metadata, records, chunks, indexes, links.
    private func writeLists(to writer: any EngineWriter) throws {
        try states.write(to: writer)
        let changed = entities.map(\.object).sorted { layout.number(of: $0.entity) < layout.number(of: $1.entity) }
        for lists in changed { try lists.records.write(to: writer) }
        for lists in changed { try lists.chunks.write(to: writer) }
        let indexes = changed.flatMap { zip($0.keyIndexes, $0.indexes) }.sorted { $0.0.beginning < $1.0.beginning }
        for (_, list) in indexes { try list.write(to: writer) }
        let tables = links.sorted { layout.linkNumber($0.index) < layout.linkNumber($1.index) }
        for table in tables { try table.object.links.write(to: writer) }
        for table in tables { try table.object.inverses.write(to: writer) }
    }
}

extension WriteList {
    /// Returns whether a key is removed and not set again.
    func removes(_ key: [UInt8]) -> Bool {
        key.withUnsafeBytes { key in
            var isRemoved = false
            for entry in entries where Order.of(self.key(entry), key) == 0 { isRemoved = entry.valueCount < 0 }
            return isRemoved
        }
    }
}

/// Merges the old record and the changed fields of an update.
private final class RecordMerger {
    private let arena = RecordArena(capacity: 1024)

    /// Returns the merged record, which is valid until the next call.
    func merge(_ entity: Entity, _ old: RecordView, _ new: RecordView, _ mask: FieldMask) throws -> RecordView {
        arena.removeAll()
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        for field in entity.fields { builder.copy(field, from: mask.contains(field.index) ? new : old) }
        return try builder.finishedView()
    }
}
