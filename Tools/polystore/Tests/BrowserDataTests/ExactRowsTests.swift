import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import StoreTesting
import Testing

/// Exports while the store changes, and those of values of any size, on every engine.
@Suite struct ExactRowsTests {
    private static let notes = SchemaDescription(
        name: "Notes 1",
        entities: [
            EntityDescription(
                name: "Note",
                properties: [
                    .attribute(AttributeDescription(name: "text", type: .string)),
                    .attribute(AttributeDescription(name: "bytes", type: .data, isOptional: true)),
                ])
        ])

    @Test(arguments: Engine.available) func searchesAreExportedOnceEachWhileScoresChange(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, forWriting: true, Shop.fill)
        var request = RowsRequest("Item")
        (request.columns, request.search, request.size) = (["code"], "long", 4)
        let found = try await PagingTests.forwards(request, store)
        #expect(found.count > 12)
        // The rows that were read are found no more, others have another score, and one of those is deleted.
        let (deleted, lost, changed) = (found[6], Set(found[..<2]), Set(found[8...]))
        var exported: [Int64] = []
        for try await batch in try store.exactRows(request) {
            #expect(!batch.isEmpty)
            if exported.isEmpty {
                try await store.stack.perform { transaction in
                    for object in try transaction.fetchAll(EntityQuery("Item")) {
                        if changed.contains(object.id.rowID) { try object.set("name", to: .text("long")) }
                        if lost.contains(object.id.rowID) { try object.set("name", to: .text("other")) }
                        if object.id.rowID == deleted { try transaction.delete(object) }
                    }
                }
            }
            exported += batch.map(\.object.rowID)
        }
        #expect(exported == found.filter { $0 != deleted })
        // From a later page on.
        request.position = .first
        let first = try await store.rows(request)
        request.position = .after(try #require(first.next))
        var rest: [Int64] = []
        for try await batch in try store.exactRows(request) { rest += batch.map(\.object.rowID) }
        request.position = .first
        #expect(try await first.rows.map(\.object.rowID) + rest == PagingTests.forwards(request, store))
        try await store.close()
    }

    @Test(arguments: Engine.available) func exportsKeepTheirPlaceIfALongValueOfTheOrderChanges(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(engine, folder, count: 9)
        var request = RowsRequest("Note")
        (request.order, request.size) = (RowsRequest.Order("text"), 2)
        let (first, second) = (try await store.rows(request), Optional(request))
        let next = try #require(first.next)
        #expect("\(next)".utf8.count < 100)
        var exported: [Int64] = []
        for try await batch in try store.exactRows(request) {
            if exported.isEmpty {
                let last = try store.stack.objectID("Note", rowID: try #require(batch.last).object.rowID)
                try await store.stack.perform { try $0.fetchExisting(last)?.set("text", to: .text("z")) }
            }
            exported += batch.map(\.object.rowID)
        }
        // Row 2 is now behind all others, and is read again there.
        #expect(exported == [1, 2, 3, 4, 5, 6, 7, 8, 9, 2])
        for position in [RowsRequest.Position.after(next), .before(next)] {
            var changed = try #require(second)
            changed.position = position
            await #expect { try await store.rows(changed) } throws: { error in
                (error as? StoreError)?.code == .notFound && "\(error)".contains("another value")
            }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func manySmallRowsBeforeLargeOnesMakeNoLargeBatch(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(try Schema(Self.notes), in: folder) { stack in
            try stack.performAndWait { transaction in
                for number in 0..<400 {
                    let bytes = number < 300 ? nil : Data(repeating: UInt8(number % 7), count: 400_000)
                    try transaction.create("Note", ["text": .text("\(number)"), "bytes": bytes.map { .data($0) }])
                }
            }
        }
        var request = RowsRequest("Note")
        request.size = RowsRequest.greatestSize
        var (ids, most) = ([Int64](), 0)
        for try await batch in try store.exactRows(request) {
            ids += batch.map(\.object.rowID)
            most = max(most, batch.reduce(0) { $0 + $1.values.reduce(0) { $0 + ($1?.data?.count ?? 0) } })
        }
        #expect(ids == Array(1...400))
        #expect(most <= (4 << 20) + 16 * 400_000, "\(most)")
        let page = try await store.rows(request)
        #expect(page.rows.count == 400 && page.rows[399].values[2].text == "400000 bytes")
        try await store.close()
    }

    /// Makes notes with long texts in the order of their ids.
    private static func store(_ engine: Engine, _ folder: TemporaryFolder, count: Int) throws -> BrowserStore {
        try engine.open(try Schema(notes), in: folder, forWriting: true) { stack in
            try stack.performAndWait { transaction in
                for number in 0..<count {
                    try transaction.create("Note", ["text": .text(String(repeating: "a", count: 1000) + "\(number)")])
                }
            }
        }
    }
}
