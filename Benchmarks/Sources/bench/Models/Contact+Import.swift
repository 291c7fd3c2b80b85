import PeerKit
import PolyStoreCore
import PolyStoreFormats

extension Contact: PersonFields {
    var id: Int64 { _$state.rowID }
    var departmentID: Int64 { Int64(departmentNumber) }
}

extension Contact: ImportableUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<Contact, String> { \.email }

    static func uniqueID(from source: SourceRecord, in transaction: Transaction) throws -> String? { try source.require("email") }

    func update(from source: SourceRecord, in transaction: Transaction) throws {
        name = try source.require("name")
        age = try source.require("age")
        score = try source.require("score")
        isActive = try source.require("isActive")
        createdAt = try source.require("createdAt")
        notes = try source.require("notes")
        departmentNumber = try source.require("departmentNumber")
    }
}
