import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import StoreTesting

/// The stores that the tests of the browser show.
enum TestStore {
    static let engines = StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL])

    /// Markup and control characters, which a page must show as text.
    static let hostile = "<script>alert(1)</script>\"'&\u{0}</td>\"\u{301} onmouseover=x{{7}}"
    static let hostileEntity = "E<b>\"'&/ {{x}}"
    static let hostileProperty = "p<i>\"'& {{{y}}}"

    /// The first bytes of a picture.
    static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])

    static let schema: SchemaDescription = {
        func attribute(_ name: String, _ type: AttributeType, unique: Bool = false) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true, isUnique: unique))
        }
        let country = EntityDescription(
            name: "Country",
            properties: [
                attribute("name", .string, unique: true), attribute("population", .int64), attribute("founded", .date),
                attribute("flag", .data), attribute("notes", .string),
                .relationship(RelationshipDescription(name: "cities", destination: "City", isToMany: true, inverse: "country")),
            ])
        let city = EntityDescription(
            name: "City",
            properties: [
                attribute("name", .string), attribute("population", .int64),
                .relationship(RelationshipDescription(name: "country", destination: "Country", isToMany: false, inverse: "cities")),
                .relationship(RelationshipDescription(name: "mayor", destination: "Person", isToMany: false)),
            ])
        let person = EntityDescription(name: "Person", properties: [attribute("name", .string)])
        let hostile = EntityDescription(
            name: hostileEntity, properties: [attribute(hostileProperty, .string), attribute("link", .url)])
        return SchemaDescription(name: "Browser 1", entities: [country, city, person, hostile])
    }()

    /// Creates a store with three countries. The first one has cities.
    /// - Returns: The URL of the store.
    static func make(in folder: TemporaryFolder, engine: String = "sqlite", cities: Int = 120) throws -> String {
        let url = "\(engine):\(folder.path)/atlas.\(engine)"
        try engines.configuration(url).open(schema: ResolvedSchema(schema), configurationName: nil, logger: SilentLogger()).close()
        let stack = try DataStack(
            opening: url, engines: engines, forWriting: true, history: HistoryOptions(recordsPreviousValues: true), logger: SilentLogger())
        try stack.performAndWait { transaction in
            let france = try transaction.create(
                "Country",
                [
                    "name": "France", "population": .integer(68_000_000), "flag": .data(png),
                    "notes": .text(String(repeating: "long ", count: 400)),
                    "founded": .date(Date(timeIntervalSince1970: 0)),
                ])
            _ = try transaction.create("Country", ["name": "مصر", "population": .integer(-1), "flag": .data(Data([0, 1, 2]))])
            _ = try transaction.create("Country", ["name": .text(hostile)])
            for number in 1...max(1, cities) {
                let city = try transaction.create("City", ["name": .text("City \(number)"), "population": .integer(Int64(number) * 1_000)])
                try city.set("country", to: france)
            }
            _ = try transaction.create(hostileEntity, [hostileProperty: .text(hostile)])
        }
        try stack.closeAndWait()
        return url
    }
}
