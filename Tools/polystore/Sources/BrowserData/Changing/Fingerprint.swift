import Foundation
import PolyStoreCore
import PolyStoreFormats

/// A short text that is the same for the same values: FNV-1a of 64 bits. It detects accidental changes. It does not protect against values that were chosen to have
/// the same fingerprint.
struct Fingerprint: Sendable {
    private var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    var text: String { String(hash, radix: 16) }

    mutating func add(_ bytes: some Sequence<UInt8>) { for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }

    /// Adds a text with its length, so that several texts are not mistaken for others with the same letters.
    mutating func add(_ text: String) {
        add("\(text.utf8.count):".utf8)
        add(text.utf8)
    }

    mutating func add(_ value: QueryValue?) {
        switch value {
        case nil: add("null".utf8)
        case .text(let text)?: add(text)
        case .data(let data)?:
            add("\(data.count) bytes:".utf8)
            add(data)
        case .real(let real)?: add("\(real)")
        case .date(let date)?: add("\(date.timeIntervalSinceReferenceDate)")
        case .objectID(let id)?: add("\(id.rowID)")
        case let value?: add(FieldText(.int64).text(value).text)
        }
    }

    /// Adds the row ids of the targets of a to-many relationship.
    mutating func add(targets: [Int64]) { for target in targets { add("\(target)") } }
}

/// The fingerprints of the properties of an object that a form has shown.
struct SeenValues: Sendable, Equatable {
    /// The fingerprints by property. A to-many relationship with more targets than a form lists has none.
    private(set) var fingerprints: [String: String] = [:]

    /// Reads the values of an object.
    /// - Parameter members: The listed targets of to-many relationships by name.
    init(_ object: DynamicObject, _ entity: EntityModel, members: [String: [Int64]]) throws {
        for property in entity.properties {
            var fingerprint = Fingerprint()
            if case .relationship(let relationship) = property, relationship.isToMany {
                guard let targets = members[relationship.name] else { continue }
                fingerprint.add(targets: relationship.isOrdered ? targets : targets.sorted())
            } else {
                fingerprint.add(try object.value(property.name))
            }
            fingerprints[property.name] = fingerprint.text
        }
    }

    /// Reads the text that a form contains; nil if it is none.
    init?(_ text: String) {
        guard let json = try? JSONValue(parsing: text), let fields = json.object else { return nil }
        for (name, value) in fields {
            guard let value = value.string else { return nil }
            fingerprints[name] = value
        }
    }

    /// The text for a form.
    var text: String {
        "\(JSONValue(JSONObject(fingerprints.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value)) })))"
    }

    /// Returns the properties that both have, with other values.
    func differences(from other: SeenValues) -> Set<String> {
        Set(fingerprints.compactMap { name, value in other.fingerprints[name].flatMap { $0 == value ? nil : name } })
    }

    /// Returns whether an ordered relationship had the targets of a list of row ids, in their order.
    func has(_ order: [String], in relationship: String) -> Bool {
        let rowIDs = order.compactMap { Int64($0) }
        guard rowIDs.count == order.count else { return false }
        var fingerprint = Fingerprint()
        fingerprint.add(targets: rowIDs)
        return fingerprints[relationship] == fingerprint.text
    }

    /// The fingerprint of all of them.
    func add(to fingerprint: inout Fingerprint) { fingerprint.add(text) }
}
