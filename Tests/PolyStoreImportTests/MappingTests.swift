import Foundation
import PolyStore
import TestSupport
import Testing

@Model
final class Shop {
    @Attribute(.unique) var code: String
    var title: String = ""
    var initials: String = ""
    var rank: Rank = Rank.low
    var mood: Rank?
    var opened: Date?
    var stock: Int = 0
    var price: Decimal = 0
    var tags: [String] = []
    var note: String?
    @Relationship var owner: Owner?
    @Relationship var branches: Set<Shop>
    @Relationship var visitors: [Owner]
}

@Model
final class Owner {
    @Attribute(.unique) var email: String?
    var name: String = ""
}

extension Shop: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Shop, String> { \.code }

    static let importMapping: RecordMapping<Shop> = RecordMapping(uniqueID: "id")
        .dates([.pattern("dd.MM.yyyy")])
        .attribute(\.title, from: "name")
        .transformed(\.initials, from: "name") { (name: String) in String(name.prefix(1)) }
        .attribute(\.rank)
        .attribute(\.mood)
        .attribute(\.opened)
        .attribute(\.stock, from: "details.stock", default: -1)
        .attribute(\.price, default: 0)
        .attribute(\.tags)
        .attribute(\.note)
        .nested(\.owner)
        .relationship(\.branches, separator: ";")
        .nested(\.visitors)
}

extension Owner: MappedUniqueObject {
    static var uniqueIDKeyPath: OptionalUniqueID<Owner, String> { .init(\.email) }
    static let importMapping: RecordMapping<Owner> = RecordMapping(uniqueID: "email").attribute(\.name)
}

/// A source type that a program defines.
struct Reading: Decodable, Sendable {
    var station: String?
    var value: Double
    var place: String?
    var others: [String]
}

@Model
final class Station {
    @Attribute(.unique) var name: String
    var level: Int = 0
    var place: String = ""
    @Relationship var near: Station?
    @Relationship var others: [Station]
}

extension Station: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Station, String> { \.name }
    static func uniqueID(from source: Reading, in transaction: Transaction) throws -> String? { source.station }

    static let importMapping: ImportMapping<Station, Reading> = ImportMapping()
        .transformed(\.level, property: \.value) { Int($0) }
        .attribute(\.place, property: \.place, default: "somewhere")
        .relationship(\.others, list: \.others, ifMissing: .createStub)
        .relationship(\.near, property: \.place, ifMissing: .ignore)
}

/// Without a unique id.
@Model
final class Entry {
    var text: String = ""
    @Relationship var shop: Shop?
}

extension Entry: MappedObject {
    static let importMapping: RecordMapping<Entry> = RecordMapping().attribute(\.text).relationship(\.shop)
}

@Suite
struct MappingTests {
    func stack(_ backend: Backend, _ folder: Folder) throws -> DataStack {
        let stack = try DataStack(Schema("Shops", Shop.self, Owner.self, Station.self, Entry.self))
        try stack.addStore(backend.store(in: folder))
        return stack
    }

    func records(_ text: String) throws -> [SourceRecord] {
        let value = try JSONValue(parsing: text)
        return (value.array ?? []).enumerated().map { number, value in
            SourceRecord(
                fields: value.object ?? [:],
                position: RecordPosition(source: "shops.json", record: number + 1, line: number + 1, byteOffset: 0, byteCount: 0))
        }
    }

    static let shops = """
        [{"id": "a", "name": "Alpha", "rank": "high", "mood": "low", "opened": "31.12.2020", "details": {"stock": 7}, "price": 12.30,
          "tags": ["x", "y"], "note": "first", "owner": {"email": "o@x", "name": "Olga"}, "branches": ["b", "a"],
          "visitors": [{"email": "p@x", "name": "Pia"}, {"email": "o@x", "name": "Olga"}]},
         {"id": "b", "name": "Beta", "rank": "low", "tags": [], "owner": null, "branches": "a; b"},
         {"id": null, "name": "nobody", "rank": "low", "tags": []}]
        """

    @Test(arguments: Backend.forObjectLayer)
    func recordsBecomeObjects(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        let records = try records(Self.shops)
        for _ in 0..<2 {
            try stack.performAndWait { transaction throws in
                let shops = try transaction.importUniqueObjects(Into<Shop>(), from: records)
                #expect(shops.map(\.code) == ["a", "b"])
            }
        }
        try stack.readAndWait { context throws in
            let shops = try context.fetchAll(From<Shop>().orderBy(.ascending(\.code)))
            let (a, b) = (shops[0], shops[1])
            #expect(shops.count == 2)
            #expect((a.title, a.initials, a.stock, a.note) == ("Alpha", "A", 7, "first"))
            #expect((a.rank, a.mood, a.tags, a.price) == (.high, .low, ["x", "y"], Decimal(string: "12.30")))
            #expect(a.opened == ISO8601DateFormatter().date(from: "2020-12-31T00:00:00Z"))
            #expect(a.owner?.name == "Olga" && a.branches == [a, b] && a.visitors.map(\.name) == ["Pia", "Olga"])
            #expect((b.stock, b.mood, b.opened, b.note) == (-1, nil, nil, nil))
            #expect(b.owner == nil && b.branches == [a, b] && b.visitors.isEmpty)
            #expect(try context.fetchCount(From<Owner>()) == 2)
        }
        // Null sets an optional attribute to nil; a missing field keeps its value.
        let partial = try self.records(#"[{"id": "a", "name": "Alpha", "rank": "low", "tags": [], "mood": null}]"#)
        try stack.performAndWait { transaction throws in _ = try transaction.importUniqueObjects(Into<Shop>(), from: partial) }
        try stack.readAndWait { context throws in
            let shop = try context.fetchOne(From<Shop>(), Where(\.code == "a"))
            #expect(shop?.mood == nil && shop?.note == "first" && shop?.owner?.name == "Olga" && shop?.branches.count == 2)
        }
    }

    @Test func errorsNameTheRecordAndTheField() throws {
        let folder = try Folder()
        let stack = try stack(.memory, folder)
        for (text, field, reason) in [
            (#"[{"id": "a", "rank": "low", "tags": []}]"#, "name", "the field is missing"),
            (#"[{"id": "a", "name": null, "rank": "low", "tags": []}]"#, "name", "expected text, found null"),
            (#"[{"id": "a", "name": "n", "rank": "middle", "tags": []}]"#, "rank", "the text \"middle\" is not a value of Rank"),
            (#"[{"id": "a", "name": "n", "rank": "low", "details": {"stock": 1.5}, "tags": []}]"#, "details.stock", ""),
            (#"[{"id": "a", "name": "n", "rank": "low", "tags": [1]}]"#, "tags[0]", ""),
        ] {
            let records = try records(text)
            let error = #expect(throws: RecordError.self) {
                try stack.performAndWait { transaction throws in _ = try transaction.importUniqueObjects(Into<Shop>(), from: records) }
            }
            #expect(error?.field == field)
            #expect(error?.position?.record == 1)
            #expect(
                error?.description.hasPrefix("shops.json, record 1 (line 1), field \(field): \(reason)") == true,
                "\(error?.description ?? "")")
        }
        #expect(try stack.readAndWait { try $0.fetchCount(From<Shop>()) } == 0)
    }

    @Test func aMappingListsItsRequiredFields() {
        #expect(Shop.importMapping.requiredFields == ["id", "name", "name", "rank", "tags"])
        #expect(
            Shop.importMapping.description.hasPrefix(
                "unique id ← id\ntitle ← name, required\ninitials ← name, required\nrank ← rank, required\nmood ← mood"))
        #expect(Shop.importMapping.description.contains("owner → Owner ← owner"))
    }

    @Test(arguments: Backend.forObjectLayer)
    func sourcesOfTheProgramsOwn(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try stack(backend, folder)
        try stack.performAndWait { transaction throws in
            let readings = [
                Reading(station: "s", value: 3.7, place: "t", others: ["u", "t", "u"]),
                Reading(station: "t", value: 1, place: nil, others: []),
                Reading(station: nil, value: 1, place: nil, others: []),
            ]
            let stations = try transaction.importUniqueObjects(Into<Station>(), from: readings)
            #expect(stations.map(\.level) == [3, 1])
            #expect(stations.map(\.place) == ["t", "somewhere"])
            #expect(stations[0].others.map(\.name) == ["u", "t"])
            #expect(stations[0].near === stations[1] && stations[1].near == nil)
        }
    }

    @Test func withoutAUniqueID() throws {
        let folder = try Folder()
        let stack = try stack(.memory, folder)
        let (shops, entries) = (
            try records(Self.shops), try records(#"[{"text": "x", "shop": "b"}, {"text": "y", "shop": null}, {"text": "z"}]"#)
        )
        try stack.performAndWait { transaction throws in
            let imported = try transaction.importObjects(Into<Entry>(), from: entries)
            _ = try transaction.importUniqueObjects(Into<Shop>(), from: shops)
            try transaction.resolveReferences()
            #expect(imported.map { $0.shop?.code } == ["b", nil, nil])
        }
    }
}
