import PolyStoreBackend
import PolyStoreKernel

/// The values of one object at one time. A Sendable value that remains valid after the object, its context and the stack are released.
///
/// Values are read by the key paths of the model. A to-one relationship reads as the id of its object:
///
///     let snapshot = try jane.snapshot()
///     snapshot.name                   // String
///     snapshot.department             // ObjectID<Department>?
///     snapshot[\.name]                // also for an attribute that has the name of a property of the snapshot, such as id
///
/// A key path of an attribute or a to-one relationship that the snapshot contains can be read. A to-many relationship does not compile; any other key path is
/// a programming error and stops the program. A value that cannot be decoded is logged as an error and reads as the attribute's default, as in an object.
///
/// Two snapshots are equal if they are of the same object and contain the same values.
@dynamicMemberLookup
public struct ObjectSnapshot<T: Model>: Sendable, Identifiable {
    let shape: SnapshotShape
    let row: RowReference
    /// A record in the entity's layout with the fields of the shape; empty if the snapshot contains only the id.
    let record: [UInt8]

    /// The id of the object.
    public var id: ObjectID<T> { ObjectID(entry: shape.entry(row), rowID: row.rowID) }

    /// Calls a closure with a view of the record.
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
        let values = namedValues.map { "\($0.name): \($0.value.map(\.listing) ?? "nil")" }
        return values.isEmpty ? "\(id)" : "\(id) (\(values.joined(separator: ", ")))"
    }

    /// The values that the snapshot contains, by stored name, in the order of the entity. A value that cannot be decoded is missing.
    package var namedValues: [(name: String, value: QueryValue?)] {
        let entry = shape.entry(row)
        let fields = shape.isEmpty ? [] : shape.fields(of: entry, as: T.self)
        guard !fields.isEmpty else { return [] }
        return withRecord { entry.namedValues($0, fields, shape.table) }
    }
}
