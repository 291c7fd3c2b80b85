import PeerKit
import PolyStoreCore

/// The source of W11i: a person of the generator, and its department if the person can be new.
struct PersonSource {
    let raw: RawPerson
    let department: Department?
}

extension Person: ImportableUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<Person, String> { \.email }

    static func uniqueID(from source: PersonSource, in transaction: Transaction) throws -> String? { source.raw.email }

    func didInsert(from source: PersonSource, in transaction: Transaction) throws {
        fill(source.raw)
        department = source.department
    }

    func update(from source: PersonSource, in transaction: Transaction) throws {
        age = source.raw.age
        score = source.raw.score
        notes = source.raw.notes
    }
}
