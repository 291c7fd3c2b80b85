import Foundation
import PolyStoreCore

/// Names of the store that the shell completes.
enum Completions {
    /// Returns the entities of the store that an earlier word names.
    @Sendable static func entities(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        open(words)?.entityNames.filter { $0.hasPrefix(prefix) } ?? []
    }

    /// Returns paths that continue the last part of a list: `name,country.na`.
    @Sendable static func paths(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        guard let opened = open(words), let entity = words.lazy.compactMap({ try? opened.entity($0) }).first else { return [] }
        let start = prefix.lastIndex(of: ",").map { prefix[...$0] } ?? ""
        let path = prefix.dropFirst(start.count)
        let parent = path.lastIndex(of: ".").map { path[..<$0] }
        var properties = EntityProperties(entity, in: opened.schema)
        if let parent {
            guard case .relationship(let relationship)? = properties.property(at: String(parent)),
                let target = opened.schema.entities.first(where: { $0.name == relationship.destination })
            else { return [] }
            properties = EntityProperties(target, in: opened.schema)
        }
        let before = start + (parent.map { $0 + "." } ?? "")
        return properties.properties.map { before + $0.name }.filter { $0.hasPrefix(prefix) }
    }

    /// Returns the names of the full-text indexes of the entity that an earlier word names.
    @Sendable static func searchIndexes(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        guard let opened = open(words), let entity = words.lazy.compactMap({ try? opened.entity($0) }).first else { return [] }
        return entity.searchIndexes.map(\.name).filter { !$0.isEmpty && $0.hasPrefix(prefix) }
    }

    /// Returns a sentence with the entities of the store that the arguments of a command name; nil if they name none.
    static func entities(of arguments: [String]) -> String? {
        guard let opened = open(["polystore"] + arguments) else { return nil }
        let names = opened.entityNames.sorted()
        return names.isEmpty ? "\(opened.location.name) has none." : "\(opened.location.name) has \(names.joined(separator: ", "))."
    }

    /// Opens the store that a word names; nil if none does.
    private static func open(_ words: [String]) -> OpenStore? {
        for word in words.dropFirst(2) where !word.hasPrefix("-") && !word.isEmpty {
            if let location = try? StoreLocation(existing: word), let opened = try? OpenStore(location) { return opened }
        }
        return nil
    }
}
