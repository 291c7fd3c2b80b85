import Testing

@testable import PolyStoreBackend
@testable import PolyStoreQuery

/// The default of `ReadTransaction.count(_:)`, which a backend without an implementation of its own has.
@Suite struct DefaultCountTests {
    @Test func invalidRequestsAreRefusedAsByAFetch() throws {
        let entity = try ResolvedSchema(
            SchemaDescription(
                name: "rows",
                entities: [EntityDescription(name: "Row", properties: [.attribute(AttributeDescription(name: "n", type: .int64))])])
        ).entities[0]
        let stranger = FieldReference(index: 4000, name: "farther", type: .string)
        let reader = EmptyReader()
        for request in [
            FetchRequest(entity, sortKeys: [SortKey(stranger)]), FetchRequest(entity, sortKeys: [SortKey(stranger)], limit: 0),
            FetchRequest(entity, limit: -1), FetchRequest(entity, offset: -1),
        ] {
            for call in [{ _ = try reader.count(request) }, { _ = try reader.fetch(request) }] as [() throws -> Void] {
                let error = #expect(throws: StoreError.self) { try call() }
                #expect(error?.code == .invalidPredicate)
            }
        }
        #expect(try reader.count(FetchRequest(entity, sortKeys: [SortKey(FieldReference(entity.fields[0]))])) == 0)
    }
}

/// A reader of an empty store that implements only what has no default.
private final class EmptyReader: ReadTransaction {
    var version: UInt64 { 0 }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { nil }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { RelatedIDs() }
    func scan(_ request: FetchRequest) throws -> Scan { Scan(RecordCursor(layout: request.entity.layout)) }
    func end() {}
}
