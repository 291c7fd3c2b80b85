import PolyStoreBackend
import Testing

@testable import PolyStoreQuery

/// The records that a snapshot on a server keeps.
@Suite struct RecordCacheTests {
    private let entity: Entity
    private let other: Entity

    init() throws {
        func entity() throws -> Entity {
            let text = AttributeDescription(name: "text", type: .string)
            return try ResolvedSchema(
                SchemaDescription(name: "Notes", entities: [EntityDescription(name: "Note", properties: [.attribute(text)])])
            ).entities[0]
        }
        (self.entity, other) = (try entity(), try entity())
    }

    private func withRecord(_ text: String, _ body: (RecordView) throws -> Void) throws {
        let arena = RecordArena()
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        try builder.set(entity.fields[0], .text(text))
        try body(try builder.finishedView())
    }

    @Test func recordsAndTheirAbsenceAreKept() throws {
        var cache = RecordCache()
        try withRecord("a") { cache.keep($0, entity, 1) }
        cache.keep(nil, entity, 2)
        #expect(cache.record(entity, 1)??.string(0) == "a")
        #expect(cache.contains(entity, 2))
        #expect(try #require(cache.record(entity, 2)) == nil)
        #expect(!cache.contains(entity, 3))
        // An entity of another schema can have the same index.
        #expect(!cache.contains(other, 1))
        cache.removeAll()
        #expect(!cache.contains(entity, 1) && !cache.contains(entity, 2))
    }

    @Test func theMemoryIsBounded() throws {
        var cache = RecordCache()
        let text = String(repeating: "x", count: 100_000)
        for number in 0..<100 as Range<Int64> {
            try withRecord("\(text)\(number)") { cache.keep($0, entity, number) }
            #expect(cache.record(entity, number)??.string(0) == "\(text)\(number)")
        }
        let kept = (0..<100).filter { cache.contains(entity, Int64($0)) }
        #expect(kept.count * text.count <= RecordCache.mostBytes)
        #expect(kept.suffix(20) == Array(80..<100))
        try withRecord(String(repeating: "x", count: RecordCache.generationBytes)) { cache.keep($0, entity, 100) }
        #expect(!cache.contains(entity, 100))
    }
}
