import BrowserData
import Foundation
import PolyStore
import StoreTesting
import Testing

@Suite struct ObjectTests {
    @Test(arguments: Engine.available) func objectHasItsValuesAndItsLinksBothWays(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        let item = try #require(try await store.object(ObjectReference(entity: "Item", rowID: 1), wantsCost: true))
        #expect(item.object == ObjectReference(entity: "Item", rowID: 1))
        #expect(item.properties.map(\.name).prefix(3) == ["rank", "isNew", "name"])
        let bytes = try #require(item.properties.first { $0.name == "bytes" }).value
        #expect(bytes.imageType == "image/png")
        #expect(bytes.text == "10 bytes")
        let parts = try #require(item.links.first { $0.relationship == "parts" })
        #expect(parts.first.map(\.name) == ["Screw", "Wheel 2", "Wheel 0"])
        #expect(parts.first.map(\.reference.entity) == ["Screw", "Wheel", "Wheel"])
        #expect(parts.isOrdered && parts.isToMany && parts.entity == "Part" && parts.count == 3)
        let orders = try #require(item.links.first { $0.incomingFrom == "Order" })
        #expect(orders.title == "Order.item")
        #expect(orders.count == 3)
        #expect(orders.first.map(\.name) == ["Order 1", "Order 2", "Order 3"])
        #expect(!item.cost.plans.isEmpty)
        try await store.close()
    }

    @Test(arguments: Engine.available) func linksHaveCountsAndTheFirstNames(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        let naive = try Naive("Item", store)
        let maker = try #require(try await store.object(ObjectReference(entity: "Maker", rowID: 2), related: 3))
        #expect(maker.name == "Maker 1")
        let expected = naive.ids(by: nil) { if case .objectID(let id)? = $0["maker"] { id.rowID == 2 } else { false } }
        let items = try #require(maker.links.first { $0.relationship == "items" })
        #expect(items.count == expected.count)
        #expect(items.first.map(\.reference.rowID) == Array(expected.prefix(3)))
        let wishes = try #require(maker.links.first { $0.incomingFrom == "Order" })
        #expect(wishes.count == 1 && wishes.relationship == "wishes")
        var request = RowsRequest("Item")
        request.links = [RowsRequest.Link(object: maker.object, relationship: "items")]
        #expect(try await PagingTests.forwards(request, store) == expected)
        #expect(try await store.count(request) == expected.count)
        try await store.close()
    }

    @Test(arguments: Engine.available) func everyLinkHasItsRows(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        for (entity, id) in [("Item", 1), ("Maker", 1), ("Maker", 2), ("Maker", 6), ("Part", 1), ("Wheel", 1), ("Screw", 4), ("Order", 2)]
            as [(String, Int64)]
        {
            let page = try #require(try await store.object(ObjectReference(entity: entity, rowID: id), related: 100))
            for link in page.links {
                var request = RowsRequest(link.entity)
                request.links = [RowsRequest.Link(object: page.object, relationship: link.relationship, incomingFrom: link.incomingFrom)]
                request.size = 2
                let found = try await PagingTests.forwards(request, store)
                #expect(found.count == link.count, "\(entity) \(id) \(link.title)")
                #expect(Set(found) == Set(link.first.map(\.reference.rowID)), "\(entity) \(id) \(link.title)")
            }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func objectWithoutANameHasItsEntityAndID(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try engine.open(Shop.schema, in: folder, Shop.fill)
        #expect(try await store.displayName(of: ObjectReference(entity: "Maker", rowID: 1)) == "Maker 0")
        #expect(try await store.displayName(of: ObjectReference(entity: "Maker", rowID: 6)) == "Maker 6")
        #expect(try await store.displayName(of: ObjectReference(entity: "Part", rowID: 2)) == "Wheel 1")
        #expect(try await store.displayName(of: ObjectReference(entity: "Screw", rowID: 4)) == "Screw")
        #expect(try await store.displayName(of: ObjectReference(entity: "Order", rowID: 4)) == "Order 4")
        #expect(try await store.displayName(of: ObjectReference(entity: "Order", rowID: 5)) == nil)
        #expect(try await store.object(ObjectReference(entity: "Order", rowID: .max)) == nil)
        await #expect(throws: StoreError.self) { try await store.object(ObjectReference(entity: "Nothing", rowID: 1)) }
        try await store.close()
    }

    @Test func wholeValuesAreExact() async throws {
        let folder = try TemporaryFolder()
        let store = try Engine.sqlite.open(Shop.schema, in: folder, Shop.fill)
        let naive = try Naive("Item", store)
        let long = try #require(naive.rows.first { ($0.values["name"]?.string?.count ?? 0) > 200 })
        let reference = ObjectReference(entity: "Item", rowID: long.id)
        var request = RowsRequest("Item")
        (request.filter, request.columns) = ("code == '\(long.values["code"]?.string ?? "")'", ["name"])
        let cut = try #require(try await store.rows(request).rows.first?.values.first)
        #expect(cut.isCut && cut.text.count == BrowserValue.longest && cut.size == long.values["name"]?.string?.utf8.count)
        let whole = try #require(try await store.wholeValue(of: reference, property: "name"))
        #expect(whole.data == Data((long.values["name"]?.string ?? "").utf8))
        #expect(try await store.wholeValue(of: ObjectReference(entity: "Item", rowID: 1), property: "bytes")?.imageType == "image/png")
        #expect(try await store.wholeValue(of: ObjectReference(entity: "Item", rowID: 9999), property: "bytes") == nil)
        await #expect(throws: StoreError.self) { try await store.wholeValue(of: reference, property: "maker") }
        await #expect(throws: StoreError.self) { try await store.wholeValue(of: reference, property: "x' OR 1") }
        try await store.close()
    }
}
