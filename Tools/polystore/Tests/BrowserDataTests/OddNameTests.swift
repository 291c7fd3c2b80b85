import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import StoreTesting
import Testing

/// Entities and properties with names that a class cannot have, and names that mean something in conditions.
@Suite struct OddNameTests {
    private static let entity = "Odd \"one\""
    private static let names = [
        "first name", "a.b", "any", "it's", "50%", "naïve", "#x", "as", "count", "x as y", "back\\slash", "comma, too", "(", "日本", "1st",
        "name", "SEARCH", "now", "a\nb", "\u{202e}rtl", "<script>alert(1)</script>",
    ]

    private static func open(_ engine: Engine, in folder: TemporaryFolder) throws -> BrowserStore {
        let properties = names.enumerated().map { index, name in
            PropertyDescription.attribute(AttributeDescription(name: name, type: .string, isOptional: true, isIndexed: index % 2 == 0))
        }
        let next = PropertyDescription.relationship(RelationshipDescription(name: "next one", destination: entity, isToMany: false))
        let all = PropertyDescription.relationship(
            RelationshipDescription(name: "all of 'them'", destination: entity, isToMany: true, isOrdered: true))
        let description = SchemaDescription(
            name: "Odd 1", entities: [EntityDescription(name: entity, properties: properties + [next, all])])
        return try engine.open(try Schema(description), in: folder) { stack in
            try stack.performAndWait { transaction in
                var objects: [DynamicObject] = []
                for number in 0..<7 {
                    let values = names.map { ($0, number % 3 == 0 ? nil : QueryValue.text("\(number % 4) \($0)")) }
                    objects.append(try transaction.create(entity, Dictionary(uniqueKeysWithValues: values)))
                }
                try objects[0].set("next one", to: objects[1])
                try objects[0].set("all of 'them'", to: [objects[2], objects[1]])
            }
        }
    }

    @Test(arguments: Engine.available) func everyNameIsAColumnAnOrderAConditionAndAFacet(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(engine, in: folder)
        let naive = try Naive(Self.entity, store)
        let page = try await store.rows(RowsRequest(Self.entity))
        #expect(page.rows.count == 7)
        for name in Self.names {
            let column = try #require(page.columns.firstIndex { $0.title == name && $0.type == .string }, "\(name)")
            #expect(page.rows.map { $0.values[column].text } == naive.rows.map { $0.values[name]?.string ?? "–" }, "\(name)")
            var request = RowsRequest(Self.entity)
            (request.columns, request.size) = ([name.asPath], 2)
            request.order = RowsRequest.Order(page.columns[column].term)
            #expect(try await PagingTests.forwards(request, store) == naive.ids(by: name), "\(name)")
            #expect(try await PagingTests.backwards(request, store) == naive.ids(by: name), "\(name)")
            request.filter = "\(name.asPath) == '1 \(name.escapedForText)'"
            #expect(try await store.count(request) == naive.rows.count { $0.values[name]?.string == "1 \(name)" }, "\(name)")
            for try await facet in store.facets(of: name, RowsRequest(Self.entity)) where facet.isComplete {
                #expect(facet.buckets.reduce(0) { $0 + $1.count } == 7, "\(name)")
                for bucket in facet.buckets {
                    request.filter = bucket.condition
                    #expect(try await store.count(request) == bucket.count, "\(name) \(bucket)")
                }
            }
            var groups = GroupsRequest(Self.entity)
            groups.groups = [name.asPath]
            #expect(try await store.groups(groups).titles == [name, "count"], "\(name)")
            let reference = ObjectReference(entity: Self.entity, rowID: 2)
            #expect(try await store.wholeValue(of: reference, property: name)?.value == .text("1 \(name)"))
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func linksOfOddNamesLeadBothWays(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(engine, in: folder)
        let object = try #require(try await store.object(ObjectReference(entity: Self.entity, rowID: 2)))
        #expect(object.links.map(\.title) == ["next one", "all of 'them'", "\(Self.entity).next one", "\(Self.entity).all of 'them'"])
        #expect(object.links.map(\.count) == [0, 0, 1, 1])
        let words = try await store.completions(of: "", at: 0, entity: Self.entity).words.filter { $0.kind == .attribute }.map(\.text)
        #expect(Set(words) == Set(Self.names.map(\.asPath)))
        for word in words { #expect(await store.checkFilter("\(word) != NULL", of: Self.entity) == nil, "\(word)") }
        try await store.close()
    }
}
