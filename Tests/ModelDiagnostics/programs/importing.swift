import PolyStore

@Model
final class City {
    @Attribute(.unique) var number: Int
    var name: String = ""
}

extension City: ImportableUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<City, Int> { \.number }

    static func uniqueID(from source: SourceRecord, in transaction: Transaction) throws -> Int? { try source.require("number") }

    func update(from source: SourceRecord, in transaction: Transaction) throws { name = try source.require("name") }
}

@Model
final class Visit {
    var place: String = ""
}

extension Visit: ImportableObject {
    func didInsert(from source: SourceRecord, in transaction: Transaction) throws { place = try source.require("place") }
}

/// The verb must fit the class: inserting objects of a class with unique ids would insert duplicates.
func importing(_ transaction: Transaction, _ sources: [SourceRecord]) throws {
    try transaction.importObject(Into<City>(), from: sources[0])  // error: use importUniqueObject(_:from:)
    try transaction.importObjects(Into<City>(), from: sources)  // error: use importUniqueObjects(_:from:)
    try transaction.importUniqueObject(Into<City>(), from: sources[0])
    if let city = try transaction.importUniqueObjects(Into<City>(), from: sources).first {
        try transaction.importObject(city, from: sources[0])
    }
    try transaction.importObject(Into<Visit>(), from: sources[0])
    try transaction.importObjects(Into<Visit>(), from: sources)
    try transaction.importUniqueObject(Into<Visit>(), from: sources[0])  // error: requires that 'Visit' conform to 'ImportableUniqueObject'
}
