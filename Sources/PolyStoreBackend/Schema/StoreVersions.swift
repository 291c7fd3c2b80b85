import Foundation

/// The schema versions that a store has had, in the order in which it reached them, and those that an application's history places before them.
///
/// The list is a named value of the store, so it is written in the transaction of a migration, and every copy of the store has it. It distinguishes a later version
/// of the application, whose schema is unknown to the store, from an earlier one, which would remove what the store has gained since. The version of a store is
/// always the one of its schema: the list has no position of its own, and a release that does not know the list cannot make it wrong.
package struct StoreVersions {
    /// A version: the name and the ``SchemaDescription/dataFingerprint`` of its schema.
    struct Version: Codable, Hashable {
        let name: String
        let fingerprint: String
        /// The fingerprints of the versions that it follows; empty for the first version.
        var previous: [String]

        init(_ schema: SchemaDescription, previous: [String] = []) {
            name = schema.name
            fingerprint = schema.dataFingerprint
            self.previous = previous
        }
    }

    private(set) var versions: [Version] = []
    /// The stored form that the list was read from.
    private let stored: [UInt8]?

    /// Creates the list of a store from its stored form, which may be absent, and completes it with the version of the store.
    /// - Parameter schema: The schema of the store.
    /// - Throws: `corrupt`.
    package init(_ stored: [UInt8]?, _ schema: SchemaDescription, location: String) throws {
        self.stored = stored
        if let stored {
            guard let versions = try? JSONDecoder().decode([Version].self, from: Data(stored)) else {
                throw StoreError(
                    .corrupt, "The list of the versions of the store \(location) cannot be read. Restore the store from a backup.",
                    location: location)
            }
            self.versions = versions
        }
        // A new store has no list, and a release that does not know the list may have migrated the store.
        let current = Version(schema, previous: versions.last.map { [$0.fingerprint] } ?? [])
        if self[current.fingerprint] == nil { versions.append(current) }
    }

    private subscript(_ fingerprint: String) -> Version? { versions.first { $0.fingerprint == fingerprint } }

    // MARK: Order

    /// Returns whether a migration from one version to another leads to an earlier version or to one of another branch: the store knows the version, and it does not
    /// follow the one that the store has.
    package func isDowngrade(from source: SchemaDescription, to target: SchemaDescription) -> Bool {
        let (start, end) = (source.dataFingerprint, target.dataFingerprint)
        guard self[end] != nil, start != end else { return false }
        var seen: Set<String> = [end]
        var open = [end]
        while let next = open.popLast() {
            for previous in self[next]?.previous ?? [] {
                if previous == start { return false }
                if seen.insert(previous).inserted { open.append(previous) }
            }
        }
        return true
    }

    /// Returns the name under which the store knows a schema; `nil` if it does not.
    package func name(of schema: SchemaDescription) -> String? { self[schema.dataFingerprint]?.name }

    // MARK: Changes

    /// Records that the store has reached a version.
    /// - Parameter isLater: Whether a migration chain declares a version that the store had before to be a later one.
    package mutating func reach(_ target: SchemaDescription, from source: SchemaDescription, isLater: Bool) {
        let version = Version(target, previous: [source.dataFingerprint])
        guard let index = versions.firstIndex(where: { $0.fingerprint == version.fingerprint }) else {
            versions.append(version)
            return
        }
        guard isLater, isDowngrade(from: source, to: target) else { return }
        let former = versions.remove(at: index)
        for index in versions.indices where versions[index].previous.contains(former.fingerprint) {
            versions[index].previous = versions[index].previous.filter { $0 != former.fingerprint } + former.previous
        }
        versions.append(version)
    }

    /// A version of a history, and the versions that it follows.
    package struct Placed {
        let schema: SchemaDescription
        let previous: [SchemaDescription]

        package init(schema: SchemaDescription, previous: [SchemaDescription]) {
            self.schema = schema
            self.previous = previous
        }
    }

    /// Adds the versions that a history places before the version of the store.
    /// - Parameters:
    ///   - earlier: The earlier versions, each after those that it follows.
    ///   - current: The version of the store.
    package mutating func place(_ earlier: [Placed], before current: Placed) {
        let fingerprint = current.schema.dataFingerprint
        guard var index = versions.firstIndex(where: { $0.fingerprint == fingerprint }) else { return }
        // An earlier version with the data of the current one adds nothing that the current one lacks. Those that follow it follow its own previous versions.
        var skipped: [String: [String]] = [:]
        func prints(_ schemas: [SchemaDescription]) -> [String] {
            var found: [String] = []
            for schema in schemas {
                let print = schema.dataFingerprint
                let all = print == fingerprint ? skipped[schema.name] ?? [] : [print]
                for print in all where !found.contains(print) { found.append(print) }
            }
            return found
        }
        for part in earlier {
            let version = Version(part.schema, previous: prints(part.previous))
            if version.fingerprint == fingerprint { skipped[part.schema.name] = version.previous }
            guard version.fingerprint != fingerprint, self[version.fingerprint] == nil else { continue }
            versions.insert(version, at: index)
            index += 1
        }
        if versions[index].previous.isEmpty { versions[index].previous = prints(current.previous) }
    }

    // MARK: Stored form

    /// The name of the value that contains the list.
    package static let valueName = "\(NamedValue.reservedPrefix)versions"

    /// The list as JSON. A list that exceeds the longest named value loses its first versions.
    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var kept = versions[...]
        while true {
            // Every part is a plain Codable value, so encoding cannot fail.
            let bytes = (try? encoder.encode(Array(kept))).map { [UInt8]($0) } ?? []
            if bytes.count <= NamedValue.longestValue || kept.isEmpty { return bytes }
            kept = kept.dropFirst(max(1, kept.count / 8))
        }
    }

    /// A Boolean value that indicates whether the store has the list as it is.
    package var isStored: Bool { bytes == stored }

    /// Reads the list of a store.
    /// - Parameter schema: The schema of the store.
    package init(_ reader: any ReadTransaction, _ schema: SchemaDescription, location: String) throws {
        try self.init(try reader.value(named: Self.valueName), schema, location: location)
    }

    /// Returns whether a backend keeps the list: its stores can be migrated, and have named values.
    package static func isKept(by capabilities: Capabilities) -> Bool {
        capabilities.has(.migration) && capabilities.has(.namedValues)
    }

    /// Writes the list in a transaction, if it differs from the stored one.
    package func write(_ writer: any WriteTransaction, _ schema: ResolvedSchema) throws {
        let bytes = bytes
        guard try writer.value(named: Self.valueName) != bytes else { return }
        let changes = ChangeSet(schema, capacity: 64)
        try changes.setValue(bytes, named: Self.valueName)
        try writer.apply(changes)
    }
}
