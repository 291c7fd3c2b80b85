import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import PolyStoreQuery
import TestSupport
import Testing

/// Conditions over relationships that a server leaves, evaluated in blocks of rows.
@Suite struct BlockEvaluationTests {
    /// A store that leaves conditions to the shared executor, and counts its requests.
    private final class LeavingStore: StorageBackend {
        private let inner: any StorageBackend
        let asked = Protected<Asked>(Asked())

        struct Asked {
            /// The number of sources of each call of `related`.
            var lists: [Int] = []
            /// The number of row ids of each scan.
            var rows: [Int] = []
            var records = 0
            var failsForMany = false
        }

        init(_ inner: any StorageBackend) { self.inner = inner }
        var capabilities: Capabilities {
            var capabilities = inner.capabilities
            capabilities.waitsForServer = true
            return capabilities
        }
        var metadata: StoreMetadata { inner.metadata }
        func beginRead() throws -> any ReadTransaction { Reader(try inner.beginRead(), self) }
        func beginWrite() throws -> any WriteTransaction { try inner.beginWrite() }
        func close() throws { try inner.close() }

        private final class Reader: ReadTransaction {
            private let inner: any ReadTransaction
            private let store: LeavingStore

            init(_ inner: any ReadTransaction, _ store: LeavingStore) { (self.inner, self.store) = (inner, store) }
            var version: UInt64 { get throws { try inner.version } }
            func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
                store.asked.withLock { $0.records += 1 }
                return try inner.record(entity, rowID: rowID)
            }
            func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
                let fails = store.asked.withLock { asked in
                    asked.lists.append(sources.count)
                    return asked.failsForMany && sources.count > 1
                }
                if fails { throw StoreError(.io, "The test refuses to read several lists.") }
                return try inner.related(relationship, of: sources)
            }
            func scan(_ request: FetchRequest) throws -> Scan {
                guard request.predicate.needsRelated else {
                    if case .oneOf(_, let values) = request.predicate.node { store.asked.withLock { $0.rows.append(values.count) } }
                    return try inner.scan(request)
                }
                return Scan(
                    try inner.fetch(FetchRequest(request.entity)), residual: Scan.Residual(predicate: request.predicate, slice: true))
            }
            func end() { inner.end() }
        }
    }

    private let schema: ResolvedSchema
    private let leaving: LeavingStore
    private let reader: any ReadTransaction
    /// The condition that the relationships of a node lead to the node with the number 7.
    private let condition: QueryPredicate
    private static let count: Int64 = 3000

    init() throws {
        schema = try ResolvedSchema(
            SchemaDescription(
                name: "Nodes",
                entities: [
                    EntityDescription(
                        name: "Node",
                        properties: [
                            .attribute(AttributeDescription(name: "number", type: .int64)),
                            .relationship(RelationshipDescription(name: "next", destination: "Node", isToMany: true)),
                            .relationship(RelationshipDescription(name: "first", destination: "Node", isToMany: false)),
                        ])
                ]))
        let node = schema.entities[0]
        let store = try StoreConfiguration.inMemory().open(schema: schema, configurationName: nil, logger: RecordingLogger())
        leaving = LeavingStore(store)
        let writer = try store.beginWrite()
        _ = try writer.reserveIDs(node, count: Int(Self.count))
        let changes = ChangeSet(schema)
        let next = try #require(node.relationship(named: "next"))
        let first = try #require(node.relationship(named: "first"))
        guard case .link(let table, _) = next.storage, case .foreignKey(let field) = first.storage else { preconditionFailure("storage") }
        for number in 1...Self.count {
            try changes.insert(node, rowID: number) { builder in
                builder.setInteger(node.fields[0].index, number)
                builder.setInteger(field, number % Self.count + 1)
            }
            changes.link(.init(table: table, source: number, target: number % Self.count + 1, isAddition: true))
        }
        try writer.apply(changes)
        _ = try writer.commit(.relaxed)
        reader = try leaving.readingAhead().beginRead()
        let number = FieldReference(node.fields[0])
        condition = .related(
            RelationshipReference(next, in: schema), .any,
            .related(RelationshipReference(first, in: schema), .one, .compare(number, .equal, .integer(7))))
    }

    private func rowIDs(_ request: FetchRequest) throws -> [Int64] {
        let cursor = try reader.fetch(request)
        defer { cursor.close() }
        var found: [Int64] = []
        while try cursor.next() { found.append(cursor.rowID) }
        return found
    }

    @Test func theRelatedObjectsOfABlockAreReadTogether() throws {
        #expect(try rowIDs(FetchRequest(schema.entities[0], predicate: condition)) == [5])
        let asked = leaving.asked.withLock { $0 }
        #expect(asked.lists.count < 10 && asked.rows.count < 20 && asked.records < 10, "\(asked)")
        #expect(asked.lists.allSatisfy { $0 <= 1000 })
        #expect(try reader.count(FetchRequest(schema.entities[0], predicate: condition)) == 1)
    }

    @Test func aLimitEndsTheFirstSmallBlock() throws {
        #expect(try rowIDs(FetchRequest(schema.entities[0], predicate: condition, limit: 1)) == [5])
        #expect(leaving.asked.withLock { $0.lists } == [16])
    }

    @Test func aReadOfManyListsThatFailsIsRepeatedForOne() throws {
        leaving.asked.withLock { $0.failsForMany = true }
        #expect(try rowIDs(FetchRequest(schema.entities[0], predicate: condition, limit: 1)) == [5])
    }
}
