import PolyStoreBackend
import PolyStoreCollections

/// The pending changes of a transaction without references to its objects, to be applied to another transaction.
final class RecordedChanges: @unchecked Sendable {  // complete and no longer mutated when it is passed on
    /// A range of bytes of the arena.
    struct ByteRange {
        let offset: Int
        let count: Int
    }

    struct Insert {
        let object: RowReference
        /// The assigned fields.
        let mask: FieldMask
        let record: ByteRange
        /// A Boolean value that indicates whether the object was in the store before, so that another transaction may have inserted it again too.
        let mayExist: Bool
    }

    struct Update {
        let object: RowReference
        let mask: FieldMask
        /// The record that was read, before the first change.
        let base: ByteRange
        let record: ByteRange
    }

    struct Deletion {
        let object: RowReference
        let base: ByteRange?
    }

    /// The additions to and removals from a relationship stored in a link table.
    struct Links {
        let key: RelationshipKey
        let added: [Int64]
        let removed: [Int64]
    }

    /// The new order of an ordered relationship.
    struct Order {
        let key: RelationshipKey
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
    var records: [RowReference: ByteRange] {
        Dictionary(inserts.map { ($0.object, $0.record) } + updates.map { ($0.object, $0.record) }, uniquingKeysWith: { first, _ in first })
    }

    func record(_ range: ByteRange, _ layout: RecordLayout) -> RecordView { arena.view(range.offset, range.count, layout) }

    func insert(_ object: some Model, _ entry: StoreEntity, mayExist: Bool) throws {
        inserts.append(
            Insert(
                object: object.rowReference, mask: object._$state.edit?.mask ?? FieldMask(), record: try encoded(object, entry),
                mayExist: mayExist))
    }

    func update(_ object: some Model, _ entry: StoreEntity, base: UnsafeRawBufferPointer) throws {
        guard let mask = object._$state.edit?.mask, !mask.isEmpty else { return }
        updates.append(Update(object: object.rowReference, mask: mask, base: copied(base), record: try encoded(object, entry)))
    }

    func delete(_ object: some Model, base: UnsafeRawBufferPointer?) {
        deletions.append(Deletion(object: object.rowReference, base: base.map { copied($0) }))
    }

    func link(_ key: RelationshipKey, _ changes: MemberChanges) {
        links.append(Links(key: key, added: changes.added.sorted(), removed: changes.removed.sorted()))
    }

    func arrange(_ key: RelationshipKey, _ order: MemberOrder) { orders.append(Order(key: key, order: order)) }

    private func copied(_ bytes: UnsafeRawBufferPointer) -> ByteRange { ByteRange(offset: arena.append(bytes), count: bytes.count) }

    private func encoded(_ object: some Model, _ entry: StoreEntity) throws -> ByteRange {
        var builder = RecordBuilder(arena)
        builder.begin(entry.entity.layout)
        try entry.encode(object, into: &builder)
        let range = try builder.finish()
        return ByteRange(offset: range.offset, count: range.count)
    }
}
