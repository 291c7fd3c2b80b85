import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel
import PolyStoreTransfer

/// A reader of references in records: the unique ids of objects, or their row ids.
struct EntityReferenceReader: Sendable {
    /// A reference to an object.
    enum Reference {
        case key(EntityKey)
        case rowID(Int64)

        var key: EntityKey? { if case .key(let key) = self { key } else { nil } }
        var rowID: Int64? { if case .rowID(let rowID) = self { rowID } else { nil } }
    }

    let target: StoreEntity
    /// The fields of the unique id; empty if the objects have none.
    private let fields: [Field]

    init(_ target: StoreEntity, _ relationship: Relationship) {
        self.target = target
        fields = (target.entity.uniqueAttributes(ofTargets: relationship) ?? []).map { target.entity.fields[$0] }
    }

    /// Returns the references in the values of a field.
    /// - Throws: `invalidValue`, and `RecordError` for a value of another type.
    func references(_ values: [JSONValue], of name: String, _ record: SourceRecord, _ plan: EntityImportPlan) throws -> [Reference] {
        do {
            return try values.map { value in
                if let rowID = try rowID(value, record, plan) { return .rowID(rowID) }
                return .key(try key(value, record, plan, name))
            }
        } catch let error as RecordError { throw error.inField(name).at(record.position) }
    }

    /// Returns a row id: a number if the objects have no unique id, otherwise an object such as `{"_id": 12}`.
    private func rowID(_ value: JSONValue, _ record: SourceRecord, _ plan: EntityImportPlan) throws -> Int64? {
        if case .object(let object) = Self.object(value, record), object.names == [EntityExportOptions.rowID],
            let id = object[EntityExportOptions.rowID]
        {
            return try Int64(source: id, options: plan.conversion)
        }
        return fields.isEmpty ? try Int64(source: value, options: plan.conversion) : nil
    }

    /// Returns a value, or the object that the text of an untyped record contains as JSON.
    private static func object(_ value: JSONValue, _ record: SourceRecord) -> JSONValue {
        guard record.isUntyped, case .string(let text) = value, text.hasPrefix("{") else { return value }
        return (try? JSONValue(parsing: text)) ?? value
    }

    private func key(_ value: JSONValue, _ record: SourceRecord, _ plan: EntityImportPlan, _ name: String) throws -> EntityKey {
        var parts = [value]
        if fields.count > 1 {
            parts = try [JSONValue](source: value, options: plan.conversion)
            guard parts.count == fields.count else {
                throw plan.invalid(
                    "needs an array of \(fields.map(\.name).joined(separator: ", ")), the unique id of \(target.entity.name)", name)
            }
        }
        return EntityKey(
            values: try zip(parts, fields).map { part, field in
                let value = try field.queryValue(part, isUntyped: record.isUntyped, plan.conversion)
                return try field.stored(value) { plan.invalid("leads to \(target.entity.name), whose \(field.name) \($0)", name) }
            })
    }
}
