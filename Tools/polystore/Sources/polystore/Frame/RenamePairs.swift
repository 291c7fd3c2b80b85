import Foundation
import PolyStoreCore

import struct PolyStoreBackend.EntityDescription
import enum PolyStoreBackend.PropertyDescription
import struct PolyStoreBackend.SchemaDescription

/// The new and old names that a migration is given.
struct RenamePairs {
    private struct Pair {
        /// The pair as the user writes it.
        let text: String
        let new: String
        let old: String
    }

    private var pairs: [Pair] = []

    /// Adds a pair such as `City.inhabitants=population`.
    /// - Throws: `usage` for a text that is not a pair, and for a second pair of a name.
    mutating func add(_ text: String) throws {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw ToolError(.usage, "--rename \"\(text)\" is not a new and an old name: write --rename City.inhabitants=population.")
        }
        if let other = pairs.first(where: { $0.new == parts[0] }) {
            throw ToolError(.usage, "--rename \"\(text)\" and --rename \"\(other.text)\" name one part twice: keep one of them.")
        }
        pairs.append(Pair(text: text, new: parts[0], old: parts[1]))
    }

    /// Returns the old names by new ones, those of properties without their entity.
    func oldNames(in old: SchemaDescription) -> [String: String] {
        Dictionary(uniqueKeysWithValues: pairs.map { ($0.new, $0.new.contains(".") ? Self.property($0, old) : $0.old) })
    }

    /// Returns the old name of a property without its entity, with which it can be written.
    private static func property(_ pair: Pair, _ old: SchemaDescription) -> String {
        let isWhole = old.entities.contains { $0.properties.contains { $0.name == pair.old } }
        guard !isWhole, let dot = pair.old.firstIndex(of: ".") else { return pair.old }
        let entity = old.entityNames.filter { pair.old.hasPrefix($0 + ".") }.max { $0.count < $1.count }
        return String(entity.map { pair.old.dropFirst($0.count + 1) } ?? pair.old[pair.old.index(after: dot)...])
    }

    // MARK: The schema of the store

    /// Checks that a store has the old names.
    /// - Parameters:
    ///   - old: The schema of the store.
    ///   - json: The new schema, which has the new names.
    /// - Throws: `usage` with the name that was probably meant.
    func check(from old: SchemaDescription, to json: Data) throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let new = try decoder.decode(SchemaDescription.self, from: json)
        for pair in pairs {
            if new.entityNames.contains(pair.new) { try Self.checkEntity(pair, old) } else { try checkProperty(pair, old, new) }
        }
    }

    private static func checkEntity(_ pair: Pair, _ old: SchemaDescription) throws {
        guard !old.entityNames.contains(pair.old), old.original(of: pair.new) != pair.old else { return }
        let hint = Spelling.nearest(pair.old, among: old.entityNames).map { " Did you mean \"\($0)\"?" } ?? ""
        throw ToolError(.usage, "--rename \"\(pair.text)\": the store has no entity \"\(pair.old)\".\(hint)")
    }

    private func checkProperty(_ pair: Pair, _ old: SchemaDescription, _ new: SchemaDescription) throws {
        guard let name = new.entityNames.filter({ pair.new.hasPrefix($0 + ".") }).max(by: { $0.count < $1.count }) else { return }
        // The entity in the store: that of a rename, of the new schema, or of the same name.
        let names = [pairs.first { $0.new == name }?.old, new.original(of: name), name].compactMap { $0 }
        guard let entity = names.lazy.compactMap({ old.entity($0) }).first else {
            throw ToolError(.usage, "--rename \"\(pair.text)\": the store has no entity \"\(name)\", whose property could be renamed.")
        }
        let own = [entity.name] + (entity.hierarchy?.subentities.map(\.name) ?? [])
        let property = Self.property(pair, old)
        if property != pair.old, case let written = String(pair.old.dropLast(property.count + 1)), !own.contains(written) {
            throw ToolError(
                .usage,
                "--rename \"\(pair.text)\": \"\(written)\" is not \"\(own[0])\". A property keeps its values in its entity only.")
        }
        let known = entity.properties.map(\.name)
        guard !known.contains(property) else { return }
        // The command is given again.
        let renamed = String(pair.new.dropFirst(name.count + 1))
        if entity.properties.contains(where: { $0.name == renamed && Self.original(of: $0) == property }) { return }
        let hint = Spelling.nearest(property, among: known).map { " Did you mean \"\($0)\"?" } ?? ""
        throw ToolError(.usage, "--rename \"\(pair.text)\": \(own[0]) has no property \"\(property)\" in the store.\(hint)")
    }
}

extension RenamePairs {
    private static func original(of property: PropertyDescription) -> String? {
        switch property {
        case .attribute(let attribute): attribute.originalName
        case .relationship(let relationship): relationship.originalName
        }
    }
}

extension SchemaDescription {
    fileprivate var entityNames: [String] { entities.flatMap { [$0.name] + ($0.hierarchy?.subentities.map(\.name) ?? []) } }

    /// Returns the entity with a name, or with a subentity of the name.
    fileprivate func entity(_ name: String) -> EntityDescription? {
        entities.first { entity in entity.name == name || entity.hierarchy?.subentities.contains { $0.name == name } ?? false }
    }

    /// Returns the earlier name of an entity or subentity.
    fileprivate func original(of name: String) -> String? {
        guard let entity = entity(name) else { return nil }
        return entity.name == name ? entity.originalName : entity.hierarchy?.subentities.first { $0.name == name }?.originalName
    }
}
