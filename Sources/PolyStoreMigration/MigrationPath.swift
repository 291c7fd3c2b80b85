import PolyStoreBackend
import PolyStoreKernel

/// The steps from the version of a store to the current version.
struct MigrationPath {
    struct Step {
        let sourceVersion: String
        let targetVersion: String
        let source: SchemaDescription
        let target: SchemaDescription
        let mapping: SchemaMapping?
        /// The relation of the target to the versions of the store.
        var order = Order.later

        enum Order {
            /// The target follows the source, or the store does not know it.
            case later
            /// The store had the target before, and a migration chain declares it to be a later version.
            case declaredLater
            /// The target is an earlier version, or one of another branch, and the policy allows the migration.
            case downgrade
        }

        var type: MigrationType {
            mapping == nil
                ? .lightweight(sourceVersion: sourceVersion, destinationVersion: targetVersion)
                : .heavyweight(sourceVersion: sourceVersion, destinationVersion: targetVersion)
        }
    }

    private let history: SchemaHistory
    private let current: Schema
    private let configuration: String?
    private let location: String

    init(_ history: SchemaHistory, current: Schema, configuration: String?, location: String) {
        self.history = history
        self.current = current
        self.configuration = configuration
        self.location = location
    }

    /// - Parameters:
    ///   - stored: The schema that the store was written for.
    ///   - versions: The versions of the store.
    /// - Throws: `incompatibleSchema` if the current version is an earlier one and the policy does not allow a downgrade, and if no path leads to it;
    ///   `invalidSchema` for an invalid chain, and for one that passes through a version that the history does not hold.
    func steps(from stored: SchemaDescription, _ versions: StoreVersions, _ policy: MigrationPolicy) throws -> [Step] {
        let target = try current.description(ofConfiguration: configuration)
        guard versions.isDowngrade(from: stored, to: target) else { return try steps(from: stored, policy.path) }
        if policy.allowsDowngrade { return try ordered(steps(from: stored, policy.path), .downgrade) }
        // A version can remove what the one before it has added. Its data are those of an earlier version, and only a chain distinguishes them.
        if case .chain(let other) = policy.path, !(other ?? history.migrationChain).isEmpty, versions.name(of: target) != current.name {
            do { return try ordered(steps(from: stored, policy.path), .declaredLater) } catch let error as StoreError
                where error.code == .incompatibleSchema
            {
                // No path of the chain leads from the version of the store to the current one, so it declares no order.
            }
        }
        throw earlier(stored, target, knownAs: versions.name(of: target))
    }

    /// Returns the steps with an order of the last one, which leads to the current version.
    private func ordered(_ steps: [Step], _ order: Step.Order) -> [Step] {
        var steps = steps
        if let last = steps.indices.last { steps[last].order = order }
        return steps
    }

    private func earlier(_ stored: SchemaDescription, _ target: SchemaDescription, knownAs name: String?) -> StoreError {
        let known = name.flatMap { $0 == current.name ? nil : ", which it had as \"\($0)\"" } ?? ""
        return StoreError(
            .incompatibleSchema,
            "The store \(location) has version \"\(stored.name)\" (\(stored.versionHash)), and this application has \"\(current.name)\" (\(target.versionHash))\(known), "
                + "an earlier version of the store or one of another branch. Migrating back would remove what \"\(stored.name)\" has added. The store was left as it is. "
                + "Use an application of \"\(stored.name)\" or a later version. To migrate back nevertheless, pass `.lightweight(allowsDowngrade: true)`, whose report "
                + "names the data that are lost. If \"\(current.name)\" is a later version that has the data of an earlier one, declare the order in a migration chain.",
            location: location)
    }

    /// - Parameter stored: The schema that the store was written for.
    /// - Throws: `incompatibleSchema` if no path leads to the current version; `invalidSchema` for an invalid chain.
    private func steps(from stored: SchemaDescription, _ path: MigrationPolicy.Path) throws -> [Step] {
        let target = try current.description(ofConfiguration: configuration)
        if stored.hasSameData(as: target) { return [] }
        switch path {
        case .lightweight:
            return [Step(sourceVersion: stored.name, targetVersion: current.name, source: stored, target: target, mapping: nil)]
        case .chain(let other):
            let chain = other ?? history.migrationChain
            try chain.check()
            if chain.isEmpty {
                let name = try version(of: stored) ?? stored.name
                return [step(name, current.name, stored, target)]
            }
            return try steps(from: stored, to: target, chain)
        }
    }

    private func step(_ from: String, _ to: String, _ source: SchemaDescription, _ target: SchemaDescription) -> Step {
        Step(
            sourceVersion: from, targetVersion: to, source: source, target: target,
            mapping: history.mappings.first { $0.source == from && $0.destination == to })
    }

    /// Returns the name of the schema version that a store was written for; `nil` if the history does not contain it.
    private func version(of stored: SchemaDescription) throws -> String? {
        let same = try history.versions.filter { version in
            do { return try stored.hasSameData(as: version.description(ofConfiguration: configuration)) } catch let error as StoreError
                where error.code == .storeNotFound
            {
                // The configuration was added after that version.
                return false
            }
        }
        return (same.first { $0.name == stored.name } ?? same.last)?.name
    }

    private func steps(from stored: SchemaDescription, to target: SchemaDescription, _ chain: MigrationChain) throws -> [Step] {
        guard let leaf = chain.leafVersion, leaf == current.name else {
            throw StoreError(
                .invalidSchema,
                "The migration chain ends in \"\(chain.leafVersion ?? "")\", and the stack uses \"\(current.name)\". End the chain in the current version."
            )
        }
        let name = try version(of: stored) ?? stored.name
        guard chain.contains(name) else { throw unknown(stored) }
        if history.version(named: name) != nil, try version(of: stored) == nil { throw changed(stored) }
        guard name != leaf else { throw changed(stored) }
        var steps: [Step] = []
        var (from, source) = (name, stored)
        while let to = chain.version(after: from) {
            let next = to == leaf ? target : try description(of: to)
            steps.append(step(from, to, source, next))
            (from, source) = (to, next)
        }
        return steps.filter { !$0.source.hasSameData(as: $0.target) || $0.mapping != nil }
    }

    private func description(of version: String) throws -> SchemaDescription {
        guard let found = history.version(named: version) else {
            throw StoreError(
                .invalidSchema,
                "The migration of \(location) passes through version \"\(version)\", which the schema history does not hold. Add its Schema, or the LockedSchema that "
                    + "Schema.locked printed for it.", location: location)
        }
        return try found.description(ofConfiguration: configuration)
    }

    private func unknown(_ stored: SchemaDescription) -> StoreError {
        StoreError(
            .incompatibleSchema,
            "The store \(location) has version \"\(stored.name)\" (\(stored.versionHash)), from which no path of the migration chain leads to \"\(current.name)\". If the store was "
                + "written by a newer version of the application, use that version; otherwise add \"\(stored.name)\" to the chain.",
            location: location)
    }

    private func changed(_ stored: SchemaDescription) -> StoreError {
        let known = history.version(named: stored.name).flatMap { try? $0.description(ofConfiguration: configuration) }
        let differences = known.map { stored.differences(to: $0).prefix(8).joined(separator: "; ") } ?? ""
        return StoreError(
            .incompatibleSchema,
            "The store \(location) has version \"\(stored.name)\" (\(stored.versionHash)), and the schema of that name is different: \(differences). Do not change a version after stores "
                + "of it were written; give the changed schema a new name. The version of the store:\n\(LockedSchema(stored.name, entities: stored.entities))",
            location: location)
    }
}
