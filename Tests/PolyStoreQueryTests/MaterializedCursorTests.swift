import Testing

@testable import PolyStoreBackend
@testable import PolyStoreQuery

/// The numbers that a cursor over collected rows reports.
@Suite struct MaterializedCursorTests {
    /// Returns an arena with three rows.
    private func rows() throws -> (arena: RecordArena, rows: [MaterializedCursor.Row], entity: Entity) {
        let entity = try ResolvedSchema(
            SchemaDescription(
                name: "rows",
                entities: [EntityDescription(name: "Row", properties: [.attribute(AttributeDescription(name: "n", type: .int64))])])
        ).entities[0]
        let arena = RecordArena()
        var builder = RecordBuilder(arena)
        let rows = try (1...3).map { number in
            builder.begin(entity.layout)
            builder.setInteger(0, Int64(number))
            let (offset, count) = try builder.finish()
            return MaterializedCursor.Row(id: Int64(number), offset: offset, count: count)
        }
        return (arena, rows, entity)
    }

    /// A backend that collects rows itself returns them with this cursor, and the plan of a request reports the number.
    @Test func rowsReturnedAreExamined() throws {
        let (arena, rows, entity) = try rows()
        let cursor = MaterializedCursor(arena, rows: rows[1...], layout: entity.layout)
        #expect(cursor.rowsExamined == 0)
        #expect(try cursor.next())
        #expect(cursor.rowID == 2 && cursor.rowsExamined == 1)
        #expect(try cursor.next())
        #expect(try !cursor.next())
        #expect(try !cursor.next())
        #expect(cursor.rowsExamined == 2)
    }

    /// A cursor that filters or sorts the rows reports those that it read.
    @Test func cursorsThatReadItReportItsRows() throws {
        let (arena, rows, entity) = try rows()
        let request = FetchRequest(entity, predicate: .compare(FieldReference(entity.fields[0]), .greater, .integer(2)), limit: 1)
        let sorted = try MaterializedCursor.sorted(
            MaterializedCursor(arena, rows: rows[...], layout: entity.layout), request, predicate: request.predicate, NoRelatedRecords())
        #expect(sorted.rowsExamined == 3)
        #expect(try sorted.next())
        #expect(sorted.rowID == 3 && sorted.rowsExamined == 3)
    }
}

private final class NoRelatedRecords: RelatedRecords {
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { nil }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { RelatedIDs() }
}
