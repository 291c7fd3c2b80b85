import Testing

@testable import PolyStoreBackend
@testable import PolyStoreQuery

/// How often aggregates over a path are computed, counted by the reads of related objects.
@Suite struct PathAggregateTests {
    /// 1,000 notes of 10 projects.
    private static let rows = (1...1000).map { Int64($0) }

    @Test func aggregatesAreComputedOnceForEachDestination() throws {
        let notes = try Notes(projects: 10, notes: Self.rows)
        let (count, sum) = (try notes.path(notes.count), try notes.path(notes.sum))
        let (counted, counting) = try notes.values(count)
        #expect(counted == Self.rows.map { _ in .integer(100) })
        // A record and the ids of each project.
        #expect(counting.searches == 10 && counting.records == 10)
        let (summed, summing) = try notes.values(sum)
        #expect(Set(summed).count == 10 && summed[0] == summed[10])
        // Also a record for each note.
        #expect(summing.searches == 10 && summing.records == 10 + 1000)
        let condition = QueryPredicate.compare(count, .greater, .field(try notes.pages))
        let evaluator = PredicateEvaluator(condition, notes)
        let before = notes.reads
        for id in Self.rows { _ = try evaluator.matches(id: id, notes.note(id)) }
        #expect(notes.reads.searches - before.searches == 10)
    }

    @Test func membersOfAPathAreReadOnceForEachDestination() throws {
        let notes = try Notes(projects: 10, notes: Self.rows)
        let node = ExpressionNode.make(try notes.path(notes.sum), RelatedLookup(notes))
        for id in Self.rows { #expect(try node.members(id, notes.note(id)).count == 100) }
        #expect(notes.reads.searches == 10 && notes.reads.records == 10 + 1000)
    }

    @Test func aggregatesThatReferToTheRowAreComputedForEachRow() throws {
        let notes = try Notes(projects: 2, notes: (1...20).map { Int64($0) })
        let pages = try notes.pages
        let longer = QueryPredicate.compare(.field(pages), .greater, .outer(2, .field(pages)))
        let (values, reads) = try notes.values(.related(notes.project, .count(notes.notes, where: longer)))
        // Note n has n pages, and 10 notes of every second number share its project.
        #expect(values == (1...20).map { .integer((20 - $0) / 2) })
        #expect(reads.searches == 20)
    }

    @Test func pathsWithoutADestinationAreNull() throws {
        let notes = try Notes(projects: 1, notes: [1, 2, 3], without: [2], missing: [3])
        #expect(try notes.values(notes.path(notes.count)).values == [.integer(1), .null, .null])
    }

    @Test func memoryOfDestinationsIsBounded() {
        let memo = TargetMemo<Int64>()
        for id in 1...70_000 as ClosedRange<Int64> { memo.keep(id, for: id) }
        #expect(memo[1] == nil && memo[70_000] == 70_000)
        memo.keep(5, for: 70_001, weight: 1 << 16)
        #expect(memo[70_000] == nil && memo[70_001] == 5)
        memo.keep(6, for: 70_002, weight: 1 << 16 + 1)
        #expect(memo[70_001] == 5 && memo[70_002] == nil)
    }

    @Test func resultsThatAreNeverAskedForAreNotKept() {
        let (unused, used) = (TargetMemo<Int64>(mostUnused: 10), TargetMemo<Int64>(mostUnused: 10))
        for id in 1...10 as ClosedRange<Int64> {
            unused.keep(id, for: id)
            used.keep(id, for: id)
        }
        #expect(used[7] == 7)
        unused.keep(11, for: 11)
        used.keep(11, for: 11)
        #expect(unused[7] == nil && unused[11] == nil)
        #expect(used[7] == 7 && used[11] == 11)
    }
}

/// Notes with a number of pages, and their projects. Counts the reads.
private final class Notes: RelatedRecords {
    let schema: ResolvedSchema
    private let entities: (note: Entity, project: Entity)
    private let arena = RecordArena()
    private var stored: [Int64: (offset: Int, count: Int)] = [:]
    private var members: [Int64: [Int64]] = [:]
    private let ids: [Int64]
    private(set) var reads = (records: 0, searches: 0)

    /// - Parameters:
    ///   - without: The notes without a project.
    ///   - missing: The notes of a project that does not exist.
    init(projects: Int64, notes: [Int64], without: Set<Int64> = [], missing: Set<Int64> = []) throws {
        schema = try ResolvedSchema(
            SchemaDescription(
                name: "notes",
                entities: [
                    EntityDescription(
                        name: "Note",
                        properties: [
                            .attribute(AttributeDescription(name: "pages", type: .int64)),
                            .relationship(
                                RelationshipDescription(name: "project", destination: "Project", isToMany: false, inverse: "notes")),
                        ]),
                    EntityDescription(
                        name: "Project",
                        properties: [.relationship(RelationshipDescription(name: "notes", destination: "Note", isToMany: true))]),
                ]))
        entities = (try #require(schema.entity(named: "Note")), try #require(schema.entity(named: "Project")))
        ids = notes
        for id in notes {
            let project: Int64? = without.contains(id) ? nil : missing.contains(id) ? projects + 1 : id % projects + 1
            stored[id] = try add(entities.note, [.integer(id), project.map { .integer($0) } ?? .null])
            if let project { members[project, default: []].append(id) }
        }
        for id in 1...projects { stored[-id] = try add(entities.project, []) }
    }

    private func add(_ entity: Entity, _ values: [Value]) throws -> (offset: Int, count: Int) {
        let own = RecordArena()
        var builder = RecordBuilder(own)
        builder.begin(entity.layout)
        for (field, value) in zip(entity.fields, values) { try builder.set(field, value) }
        let record = try builder.finishedView()
        return (arena.append(record.bytes), record.count)
    }

    func note(_ id: Int64) throws -> RecordView {
        let place = try #require(stored[id])
        return arena.view(place.offset, place.count, entities.note.layout)
    }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        guard let place = stored[entity.name == "Note" ? rowID : -rowID] else { return nil }
        reads.records += 1
        return arena.view(place.offset, place.count, entity.layout)
    }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        var found = RelatedIDs()
        for source in sources {
            reads.searches += 1
            for target in members[source] ?? [] { found.add(source: source, target: target) }
        }
        return found
    }

    // MARK: Expressions

    var pages: FieldReference { get throws { FieldReference(try #require(entities.note.field(named: "pages"))) } }
    var project: RelationshipReference { get throws { try reference(entities.note, "project") } }
    var notes: RelationshipReference { get throws { try reference(entities.project, "notes") } }
    var count: QueryExpression { get throws { .count(try notes) } }
    var sum: QueryExpression { get throws { .aggregate(.sum, try notes, .field(try pages)) } }

    private func reference(_ entity: Entity, _ name: String) throws -> RelationshipReference {
        RelationshipReference(try #require(entity.relationships.first { $0.name == name }), in: schema)
    }

    func path(_ inner: QueryExpression) throws -> QueryExpression { .related(try project, inner) }

    /// Returns the value for each note, and the reads that were needed.
    func values(_ expression: QueryExpression) throws -> (values: [Value], reads: (records: Int, searches: Int)) {
        let before = reads
        let values = SortValues([expression], self)
        let found = try ids.map { try values.values($0, note($0))[0] }
        return (found, (reads.records - before.records, reads.searches - before.searches))
    }
}
