import PolyStoreBackend

/// The records of one snapshot that were read by row id, and the row ids that have none.
///
/// The memory is bounded by two generations: when the younger one is full, it replaces the older one, whose records are discarded.
struct RecordCache {
    /// The largest memory of both generations, in bytes.
    static let mostBytes = 4 << 20
    /// The largest memory of one generation.
    static let generationBytes = mostBytes / 2
    /// About the memory for finding a record.
    private static let overhead = 64

    private struct Key: Hashable {
        let entity: Int
        let rowID: Int64
    }

    private final class Generation {
        let arena = RecordArena()
        /// The offset and the count of each record; an offset of -1 for a row id without a record.
        var places: [Key: (offset: Int, count: Int)] = [:]
        var weight = 0
    }

    private var young = Generation()
    private var old: Generation?
    /// The entities of the records, by index.
    private var entities: [Int: Entity] = [:]

    /// Returns whether an entity is one of the schema whose records are kept. Another one can have the same index.
    private func knows(_ entity: Entity) -> Bool { entities[entity.index] === entity }

    /// Returns whether a record is kept, or that there is none.
    func contains(_ entity: Entity, _ rowID: Int64) -> Bool {
        guard knows(entity) else { return false }
        let key = Key(entity: entity.index, rowID: rowID)
        return young.places[key] != nil || old?.places[key] != nil
    }

    /// Returns a record, which is valid until the next call that keeps one.
    /// - Returns: nil if it is not kept; `.some(nil)` if the store has no record with the row id.
    func record(_ entity: Entity, _ rowID: Int64) -> RecordView?? {
        guard knows(entity) else { return nil }
        let key = Key(entity: entity.index, rowID: rowID)
        for generation in [young, old] {
            guard let generation, let place = generation.places[key] else { continue }
            return .some(place.offset < 0 ? nil : generation.arena.view(place.offset, place.count, entity.layout))
        }
        return nil
    }

    /// Returns the memory that a record takes.
    static func weight(_ record: RecordView?) -> Int { (record?.count ?? 0) + overhead }

    /// Keeps a record, unless it alone exceeds the limit.
    /// - Parameter record: The record; nil if the store has none.
    mutating func keep(_ record: RecordView?, _ entity: Entity, _ rowID: Int64) {
        let weight = Self.weight(record)
        guard weight <= Self.generationBytes else { return }
        if entities.isEmpty || entities[entity.index] == nil { entities[entity.index] = entity }
        guard knows(entity) else { return }
        if young.weight + weight > Self.generationBytes { (old, young) = (young, Generation()) }
        young.weight += weight
        young.places[Key(entity: entity.index, rowID: rowID)] = record.map { (young.arena.append($0.bytes), $0.count) } ?? (-1, 0)
    }

    /// Discards all records.
    mutating func removeAll() { if young.weight > 0 { (old, young) = (nil, Generation()) } }
}
