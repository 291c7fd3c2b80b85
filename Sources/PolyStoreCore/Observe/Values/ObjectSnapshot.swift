import PolyStoreBackend

/// The values of one object at one time. A Sendable value that stays valid when the object, its context and the stack are gone.
///
/// Values are read by the key paths of the model. A to-one relationship reads as the id of its object:
///
///     let snapshot = jane.snapshot()
///     snapshot.name                   // String
///     snapshot.department             // ObjectID<Department>?
///     snapshot[\.id]                  // an attribute with the name of one of the snapshot's own properties
///
/// Only attributes and to-one relationships can be read; any other key path is a programming error and stops the program. To-many relationships do not
/// compile. A value that cannot be decoded is logged as an error and reads as the attribute's default, as in an object.
///
/// Two snapshots are equal if they are of the same object and contain the same values.
@dynamicMemberLookup
public struct ObjectSnapshot<T: Model>: Sendable, Identifiable {
    let shape: SnapshotShape
    let row: ListRow
    /// A record of the entity's layout with the fields that the shape names; empty for ids alone.
    let record: [UInt8]

    /// The id of the object.
    public var id: ObjectID<T> { ObjectID(entry: shape.entry(row), key: row.rowID) }

    /// The record as the decoders read it.
    func withRecord<V>(_ body: (RecordView) throws -> V) rethrows -> V {
        let layout = shape.entry(row).entity.layout
        return try record.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, bytes.count >= layout.minimumSize else {
                preconditionFailure("A snapshot of \(id) that contains no values was read.")
            }
            return try body(RecordView(trusting: base, count: bytes.count, layout: layout))
        }
    }
}

extension ObjectSnapshot: Hashable {
    public static func == (left: ObjectSnapshot, right: ObjectSnapshot) -> Bool {
        left.record == right.record && left.shape.fields == right.shape.fields && left.id == right.id
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension ObjectSnapshot: CustomStringConvertible {
    public var description: String {
        let fields = shape.isEmpty ? [] : shape.fields(of: shape.entry(row), as: T.self)
        let values = withRecord { record in fields.map { "\($0.name): \(record.value($0))" } }
        return values.isEmpty ? "\(id)" : "\(id) (\(values.joined(separator: ", ")))"
    }
}
