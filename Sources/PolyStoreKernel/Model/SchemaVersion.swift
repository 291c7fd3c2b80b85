import PolyStoreBackend

/// A version of a schema: a ``Schema`` with classes, or a `LockedSchema` without.
public protocol SchemaVersion: Sendable {
    /// The name of the version, unique among the versions of the schema.
    var name: String { get }
    /// Returns the entities of a configuration; `nil` is the default configuration.
    ///
    /// - Throws: `storeNotFound` if the version does not have the configuration.
    func description(ofConfiguration configuration: String?) throws -> SchemaDescription
}

extension Schema: SchemaVersion {
    public func description(ofConfiguration configuration: String?) throws -> SchemaDescription {
        description(of: try models(of: configuration))
    }
}

/// The versions of a schema that an application knows. The kernel uses a history of schemas through this protocol, because the type belongs to migrations.
package protocol KnownVersions: Sendable {
    /// The versions, in the order in which they were given.
    var versions: [any SchemaVersion] { get }
    /// Returns the versions that have a configuration, with their predecessors. Predecessors come before their successors; the current version is last.
    func ordered(configuration: String?) throws -> [StoreVersions.Placed]
    /// Returns a phrase for each part of the migration from one version to another; `nil` if the migration cannot be planned.
    func changes(from source: ResolvedSchema, named sourceName: String, to target: ResolvedSchema, named targetName: String) -> [String]?
}

/// The versions of an application that only knows its current schema.
struct OnlyVersion: KnownVersions {
    let schema: Schema
    var versions: [any SchemaVersion] { [schema] }

    func ordered(configuration: String?) throws -> [StoreVersions.Placed] {
        [StoreVersions.Placed(schema: try schema.description(ofConfiguration: configuration), previous: [])]
    }

    func changes(from source: ResolvedSchema, named sourceName: String, to target: ResolvedSchema, named targetName: String) -> [String]? {
        nil
    }
}
