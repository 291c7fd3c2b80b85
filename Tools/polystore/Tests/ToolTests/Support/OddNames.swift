import PolyStore
import PolyStoreBackend
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite

/// A store whose entities and properties have names that a class cannot have, and names that mean something in conditions and options.
enum OddNames {
    static let entity = "Odd \"one\""
    static let attributes = [
        "first name", "a.b", "any", "it's", "50%", "naïve", "#x", "as", "count", "x as y", "back\\slash", "comma, too", "(", "日本", "1st",
        "name",
    ]

    /// Creates the store with two objects that are related to each other.
    static func make(_ url: String, searchIndexes: [SearchIndexDescription] = []) throws {
        let engines = StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL])
        let properties = attributes.map { PropertyDescription.attribute(AttributeDescription(name: $0, type: .string, isOptional: true)) }
        let next = PropertyDescription.relationship(RelationshipDescription(name: "next one", destination: entity, isToMany: false))
        let all = PropertyDescription.relationship(
            RelationshipDescription(name: "all of them", destination: entity, isToMany: true, isOrdered: true))
        let schema = SchemaDescription(
            name: "Odd 1", entities: [EntityDescription(name: entity, properties: properties + [next, all], searchIndexes: searchIndexes)])
        try engines.configuration(url).open(schema: ResolvedSchema(schema), configurationName: nil, logger: SilentLogger()).close()
        let stack = try DataStack(opening: url, engines: engines, forWriting: true, logger: SilentLogger())
        try stack.performAndWait { transaction in
            let first = try transaction.create(entity, Dictionary(uniqueKeysWithValues: attributes.map { ($0, .text("1 \($0)")) }))
            let second = try transaction.create(entity, ["name": "second"])
            try first.set("next one", to: second)
            try first.set("all of them", to: [second, first])
        }
        try stack.closeAndWait()
    }
}
