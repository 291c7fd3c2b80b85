import EngineTestSupport
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue

/// A scan verifies the part of each record that it reads.
@Suite struct ScanDamageTests {
    private let age: (Entity) -> FieldReference = { FieldReference($0.field(named: "age") ?? $0.fields[0]) }
    private let name: (Entity) -> FieldReference = { FieldReference($0.field(named: "name") ?? $0.fields[0]) }

    private func filled() throws -> Opened {
        let opened = try Opened(TestEngine())
        try opened.store.write { changes in
            for id in Int64(1)...300 { try changes.insert("Person", id, Company.person(id)) }
        }
        return opened
    }

    private func flip(_ opened: Opened, _ id: Int64, _ offset: (Int, Int) -> Int) throws {
        let key = try opened.record("Person", id)
        var bytes = try #require(opened.engine[key])
        bytes[offset(try opened.store.entity("Person").layout.minimumSize, bytes.count)] ^= 4
        opened.engine[key] = bytes
    }

    private func request(_ person: Entity, _ field: FieldReference, isText: Bool) -> FetchRequest {
        var request = FetchRequest(
            person, predicate: isText ? .not(.compare(field, .equal, .text("?"))) : .compare(field, .notEqual, .integer(-5)))
        request.ignoresIndexes = true
        return request
    }

    @Test(arguments: [1, 150, 300] as [Int64])
    func flippedBitInTheHeaderIsDetectedByEveryScan(id: Int64) throws {
        let opened = try filled()
        try flip(opened, id) { head, _ in head - 1 }
        let person = try opened.store.entity("Person")
        let reader = try opened.backend.beginRead()
        defer { reader.end() }
        for isText in [false, true] {
            let request = request(person, isText ? name(person) : age(person), isText: isText)
            #expect(throws: StoreError.self) { try reader.count(request) }
            #expect(throws: StoreError.self) {
                let cursor = try reader.fetch(request)
                while try cursor.next() {}
            }
        }
        var aggregate = AggregateRequest(person, groupBy: [age(person)], aggregates: [.count])
        aggregate.ignoresIndexes = true
        #expect(throws: StoreError.self) { try reader.aggregate(aggregate) }
        #expect(try !opened.backend.verify().isEmpty)
    }

    @Test(arguments: [1, 150, 300] as [Int64], [false, true])
    func flippedBitAfterTheHeaderIsDetectedWhenRead(id: Int64, isInTheSum: Bool) throws {
        let opened = try filled()
        let person = try opened.store.entity("Person")
        let numbers = request(person, age(person), isText: false)
        let texts = request(person, name(person), isText: true)
        let reader = try opened.backend.beginRead()
        let expected = try reader.count(numbers)
        reader.end()
        try flip(opened, id) { head, count in isInTheSum ? count - 1 : head }
        let later = try opened.backend.beginRead()
        defer { later.end() }
        // The result is correct: the damaged bytes are not part of it.
        #expect(try later.count(numbers) == expected)
        #expect(throws: StoreError.self) { try later.count(texts) }
        #expect(throws: StoreError.self) { try later.record(person, rowID: id) }
        #expect(throws: StoreError.self) {
            let cursor = try later.fetch(numbers)
            while try cursor.next() {}
        }
        #expect(try !opened.backend.verify().isEmpty)
    }
}
