#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// All entities of one version of a model, as a value.
public struct SchemaDescription: Sendable, Hashable, Codable {
    /// The version's name, for people and for migration chains. Not part of the hash.
    public var name: String
    public var entities: [EntityDescription]

    public init(name: String, entities: [EntityDescription]) {
        self.name = name
        self.entities = entities
    }

    /// The description as JSON with sorted keys: what a store keeps to tell later what it holds.
    public func encoded() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        // Every part is a plain value of a Codable type, so this cannot fail.
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
    }

    /// Reads back what ``encoded()`` wrote; throws `corrupt` for anything else.
    public init(encoded bytes: [UInt8]) throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            self = try decoder.decode(SchemaDescription.self, from: Data(bytes))
        } catch {
            throw StoreError(.corrupt, "The schema kept in the store cannot be read.", underlying: "\(error)")
        }
    }

    /// What changed from this schema to another, a sentence each; empty where a store of one serves the other.
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
