import PolyStoreBackend

/// An object of a stack, identified by its entity index and row id.
struct ObjectKey: Hashable, Sendable {
    let slot: Int32
    let key: Int64
}

/// The pending changes of a transaction without references to its objects, to be applied to another transaction.
final class RecordedChanges: @unchecked Sendable {  // complete and no longer mutated when it is passed on
    /// A range of bytes of the arena.
    struct Place {
        let offset: Int
        let count: Int
    }

    struct Insert {
        let object: ObjectKey
        /// The assigned fields.
        let mask: FieldMask
        let record: Place
    }

    struct Update {
        let object: ObjectKey
        let mask: FieldMask
        /// The record that was read, before the first change.
        let base: Place
        let record: Place
    }

    struct Deletion {
        let object: ObjectKey
        let base: Place?
    }

    /// The additions to and removals from a relationship stored in a link table.
    struct Links {
        let key: MemberKey
        let added: [Int64]
        let removed: [Int64]
    }

    /// The new order of an ordered relationship.
    struct Order {
        let key: MemberKey
        let order: MemberOrder
    }

    /// A Boolean value that indicates whether an earlier, failed commit may have written some of these changes.
    let mayBeWritten: Bool
    private let arena = RecordArena()
    private(set) var inserts: [Insert] = []
    private(set) var updates: [Update] = []
    private(set) var deletions: [Deletion] = []
    private(set) var links: [Links] = []
    private(set) var orders: [Order] = []

    var isEmpty: Bool { inserts.isEmpty && updates.isEmpty && deletions.isEmpty && links.isEmpty && orders.isEmpty }

    init(mayBeWritten: Bool) { self.mayBeWritten = mayBeWritten }

    /// The new records of inserted and updated objects.
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
