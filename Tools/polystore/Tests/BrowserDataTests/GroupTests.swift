import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import StoreTesting
import Testing

/// The objects of groups, and groups as data.
@Suite struct GroupTests {
    private static let schema = SchemaDescription(
        name: "Groups 1",
        entities: [
            EntityDescription(
                name: "Thing",
                properties: [
                    attribute("float", .float), attribute("real", .double), attribute("decimal", .decimal), attribute("int", .int64),
                    attribute("unsigned", .uint64), attribute("text", .string), attribute("date", .date), attribute("bytes", .data),
                    attribute("first name", .string), attribute("isNew", .bool), attribute("token", .uuid), attribute("page", .url),
                    .relationship(RelationshipDescription(name: "owner", destination: "Owner", isToMany: false)),
                ]),
            EntityDescription(name: "Owner", properties: [attribute("name", .string)]),
        ])

    private static func attribute(_ name: String, _ type: AttributeType) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: true))
    }

    private static let prefix = String(repeating: "same ", count: 60)

    private static func open(_ engine: Engine, in folder: TemporaryFolder) throws -> BrowserStore {
        try engine.open(try Schema(schema), in: folder) { stack in
            try stack.performAndWait { transaction in
                // Different objects with the same name.
                let owners = try (0..<2).map { _ in try transaction.create("Owner", ["name": "Jane"]) }
                let values: [String: [QueryValue?]] = [
                    "float": [.real(Double(Float(0.1))), .real(Double(Float(0.3))), nil, .real(.infinity)],
                    "real": [.real(0.1), .real(1.0 / 3), .real(.nan), .real(-.infinity), .real(1e20)],
                    "decimal": ["12345678901234567890.123456789", "0.1", "-12345678901234567890.123456788"].map {
                        .decimal(Decimal(string: $0) ?? 0)
                    } + [.decimal(.nan)],
                    "int": [.integer(.max), .integer(-7), .integer(3), nil, .integer(12)],
                    "unsigned": [.unsigned(.max), .unsigned(.max - 1), .unsigned(0)],
                    "text": [.text(prefix + "a"), .text(prefix + "b"), "it's", "", "\u{301}e", nil],
                    "date": [
                        .date(Date(timeIntervalSinceReferenceDate: 0.123456)), .date(Date(timeIntervalSinceReferenceDate: -5e8)), nil,
                    ],
                    "bytes": [.data(Data([1, 2, 3])), .data(Data([1, 2, 4])), nil],
                    "first name": ["Ann", "O'Neil", nil], "isNew": [.bool(true), .bool(false), nil],
                    "token": [.uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))), nil],
                    "page": [URL(string: "https://example.com/a%20b").map { .url($0) }, nil],
                ]
                for number in 0..<60 {
                    let thing = try transaction.create("Thing", values.mapValues { $0[number % $0.count] })
                    if number % 3 < 2 { try thing.set("owner", to: owners[number % 3]) }
                }
            }
        }
    }

    @Test(arguments: Engine.available) func objectsOfAGroupAreThoseThatItCounts(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(engine, in: folder)
        let keys: [[String]] = [
            ["float"], ["real"], ["decimal"], ["int"], ["unsigned"], ["text"], ["date"], ["year(date)"], ["#\"first name\""], ["isNew"],
            ["token"], ["page"], ["owner"], ["owner", "isNew"], ["int / 10 as tens"], ["int - 1"], ["uppercase(text) as loud"],
            ["owner.name"],
            ["float * 2 as twice", "owner", "year(date) as year"],
        ]
        for filter in ["", "isNew == TRUE OR isNew == NULL"] {
            for key in keys {
                var request = GroupsRequest("Thing")
                (request.groups, request.filter, request.size) = (key, filter, 1000)
                let table = try await store.groups(request)
                #expect(table.selections.count == table.rows.count && !table.rows.isEmpty, "\(key)")
                for (row, selection) in zip(table.rows, table.selections) {
                    let selection = try #require(selection, "\(key) \(row.map(\.text))")
                    var rows = RowsRequest("Thing")
                    rows.filter = ((filter.isEmpty ? [] : ["(\(filter))"]) + selection.conditions).joined(separator: " AND ")
                    rows.links = selection.links
                    #expect(try await store.count(rows) == Int(row[key.count].number ?? 0), "\(key) \(rows.filter) \(rows.links)")
                }
            }
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func groupWithoutAnExactConditionLeadsNowhere(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let long = String(repeating: "x", count: 1_200)
        let store = try engine.open(try Schema(Self.schema), in: folder) { stack in
            try stack.performAndWait { transaction in
                for text in [long + "a", "short"] {
                    _ = try transaction.create("Thing", ["text": .text(text), "bytes": .data(Data(text.utf8))])
                }
            }
        }
        for (key, count) in [("text", 1), ("bytes", 0)] {
            var request = GroupsRequest("Thing")
            request.groups = [key]
            #expect(try await store.groups(request).selections.count { $0 != nil } == count, "\(key)")
        }
        try await store.close()
    }

    @Test(arguments: Engine.available) func groupsAsDataAreExactAndWhole(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(engine, in: folder)
        func records(_ keys: [String], _ change: (inout GroupsRequest) -> Void = { _ in }) async throws -> [[String: Any]] {
            var request = GroupsRequest("Thing")
            (request.groups, request.size) = (keys, 1)
            change(&request)
            let bytes = try await store.groupBytes(of: request, as: .json)
            return try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]])
        }
        let texts = try await records(["text"])
        let expected: Set<String?> = [Self.prefix + "a", Self.prefix + "b", "it's", "", "\u{301}e", nil]
        #expect(Set(texts.map { $0["text"] as? String }) == expected)
        #expect(texts.allSatisfy { $0["count"] as? Int == 10 })
        let bytes = try await records(["bytes"])
        let encoded: Set<String?> = ["AQID", "AQIE", nil]
        #expect(Set(bytes.map { $0["bytes"] as? String }) == encoded)
        let owners = try await records(["owner"])
        let rowIDs: Set<Int?> = [1, 2, nil]
        #expect(Set(owners.map { $0["owner"] as? Int }) == rowIDs)
        #expect(owners.allSatisfy { $0["count"] as? Int == 20 })
        let found = try await records(["owner", "owner"]) { $0.having = "count == 20" }
        #expect(found.count == 3 && found.allSatisfy { $0.keys.sorted() == ["count", "owner", "owner 2"] })
        let csv = String(decoding: try await store.groupBytes(of: GroupsRequest("Owner"), as: .csv), as: UTF8.self)
        #expect(csv.split(whereSeparator: \.isNewline) == ["count", "2"])
        let none = try await records(["text"]) { $0.filter = "text == 'nobody'" }
        #expect(none.isEmpty)
        try await store.close()
    }

    @Test func groupsBeyondThoseOfAPageAreExported() async throws {
        let folder = try TemporaryFolder()
        let store = try Engine.sqlite.open(try Schema(Self.schema), in: folder) { stack in
            try stack.performAndWait { transaction in
                for number in 0..<1_300 { _ = try transaction.create("Thing", ["int": .integer(Int64(number))]) }
            }
        }
        var request = GroupsRequest("Thing")
        request.groups = ["int"]
        let csv = String(decoding: try await store.groupBytes(of: request, as: .csv), as: UTF8.self)
        #expect(csv.split(whereSeparator: \.isNewline).count == 1_301)
        try await store.close()
    }
}
