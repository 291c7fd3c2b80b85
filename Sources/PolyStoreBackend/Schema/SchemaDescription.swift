#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// All entities of one schema version, as a value.
public struct SchemaDescription: Sendable, Hashable, Codable {
    /// The name of the version, used by migration chains. Not part of the hash.
    public var name: String
    /// The entities.
    public var entities: [EntityDescription]

    /// Creates the description of a schema version.
    public init(name: String, entities: [EntityDescription]) {
        self.name = name
        self.entities = entities
    }

    /// Returns the description as JSON with sorted keys, the form in which a store keeps its schema.
    public func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        // Every part is a plain Codable value, so encoding cannot fail.
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
    }

    /// Decodes the result of ``encoded()``; throws `corrupt` for anything else.
    public init(encoded bytes: [UInt8]) throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            self = try decoder.decode(SchemaDescription.self, from: Data(bytes))
        } catch {
            throw StoreError(.corrupt, "The schema kept in the store cannot be read.", underlying: "\(error)")
        }
    }

    /// Returns the differences to another schema, one sentence each; empty if a store of one schema can be used with the other.
    public func differences(to other: SchemaDescription) -> [String] {
        var found: [String] = []
        let mine = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let theirs = Dictionary(other.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for name in mine.keys.sorted() where theirs[name] == nil { found.append("entity \(name) is gone") }
        for name in theirs.keys.sorted() {
            guard let old = mine[name] else {
                found.append("entity \(name) is new")
                continue
            }
            if let new = theirs[name], new.withoutDefaults != old.withoutDefaults {
                found += Self.differences(from: old.withoutDefaults, to: new.withoutDefaults)
            }
        }
        return found
    }

    private static func differences(from old: EntityDescription, to new: EntityDescription) -> [String] {
        var found: [String] = []
        let before = Dictionary(old.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let after = Dictionary(new.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for property in old.properties where after[property.name] == nil { found.append("\(old.name).\(property.name) is gone") }
        for property in new.properties {
            guard let earlier = before[property.name] else {
                found.append("\(new.name).\(property.name) is new")
                continue
            }
            guard earlier != property else { continue }
            if case .attribute(let was) = earlier, case .attribute(let now) = property, was.type != now.type {
                found.append("\(new.name).\(property.name) was \(was.type.rawValue) and is \(now.type.rawValue)")
            } else {
                found.append("\(new.name).\(property.name) is declared differently")
            }
        }
        if old.hierarchy != new.hierarchy { found.append("\(new.name) has other sub-entities, or they are declared differently") }
        if found.isEmpty { found.append("entity \(new.name) has other indexes, another order of properties or another original name") }
        return found
    }
}
