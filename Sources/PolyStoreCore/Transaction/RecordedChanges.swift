import PolyStoreBackend

/// An object of a stack, by its slot and key.
struct ObjectKey: Hashable, Sendable {
    let slot: Int32
    let key: Int64
}

/// What a transaction did, free of its objects, so that it can be done again in another one.
final class RecordedChanges: @unchecked Sendable {  // complete when it is handed over, and never changed again
    /// Bytes of the arena.
    struct Place {
        let offset: Int
        let count: Int
    }

    struct Insert {
        let object: ObjectKey
        /// What was assigned.
        let mask: FieldMask
        let record: Place
    }

    struct Update {
        let object: ObjectKey
        let mask: FieldMask
        /// As it was read, before the first change.
        let base: Place
        let record: Place
    }

    struct Deletion {
        let object: ObjectKey
        let base: Place?
    }

    /// What was added to and taken from a relationship that is kept in a table of pairs.
    struct Links {
        let key: MemberKey
        let added: [Int64]
        let removed: [Int64]
    }

    /// The order that an ordered relationship was brought into.
    struct Order {
        let key: MemberKey
        let order: MemberOrder
    }

    /// Whether a commit of it has failed before, of which something may be in a store all the same.
    let mayBeThere: Bool
    private let arena = RecordArena()
    private(set) var inserts: [Insert] = []
    private(set) var updates: [Update] = []
    private(set) var deletions: [Deletion] = []
    private(set) var links: [Links] = []
    private(set) var orders: [Order] = []

    var isEmpty: Bool { inserts.isEmpty && updates.isEmpty && deletions.isEmpty && links.isEmpty && orders.isEmpty }

    init(mayBeThere: Bool) { self.mayBeThere = mayBeThere }

    /// Where the new values of created and changed objects are.
    var records: [ObjectKey: Place] {
        Dictionary(inserts.map { ($0.object, $0.record) } + updates.map { ($0.object, $0.record) }, uniquingKeysWith: { first, _ in first })
    }

    func record(_ place: Place, _ layout: RecordLayout) -> RecordView { arena.view(place.offset, place.count, layout) }

    func insert(_ object: some Model, _ entry: StoreEntity) throws {
        inserts.append(Insert(object: object.place, mask: object._$state.edit?.mask ?? FieldMask(), record: try encoded(object, entry)))
    }

    func update(_ object: some Model, _ entry: StoreEntity, base: UnsafeRawBufferPointer) throws {
        guard let mask = object._$state.edit?.mask, !mask.isEmpty else { return }
        updates.append(Update(object: object.place, mask: mask, base: copied(base), record: try encoded(object, entry)))
    }

    func delete(_ object: some Model, base: UnsafeRawBufferPointer?) {
        deletions.append(Deletion(object: object.place, base: base.map { copied($0) }))
    }

    func link(_ key: MemberKey, _ changes: MemberChanges) {
        links.append(Links(key: key, added: changes.added.sorted(), removed: changes.removed.sorted()))
    }

    func arrange(_ key: MemberKey, _ order: MemberOrder) { orders.append(Order(key: key, order: order)) }

    private func copied(_ bytes: UnsafeRawBufferPointer) -> Place { Place(offset: arena.append(bytes), count: bytes.count) }

    private func encoded(_ object: some Model, _ entry: StoreEntity) throws -> Place {
        var builder = RecordBuilder(arena)
        builder.begin(entry.entity.layout)
        try entry.encode(object, into: &builder)
        let place = try builder.finish()
        return Place(offset: place.offset, count: place.count)
    }
}

extension Model {
    var place: ObjectKey { ObjectKey(slot: _$state.slot, key: _$state.key) }
}
