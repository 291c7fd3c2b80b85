import PolyStoreBackend
import PolyStoreKernel

/// The parts of a migration between two versions that cannot be inferred from their differences.
///
///     SchemaMapping(from: "Company 1", to: "Company 2", [
///         .update("Person") { old, new in
///             new["fullName"] = .text("\(old["first"]?.string ?? "") \(old["last"]?.string ?? "")")
///         },
///         .transform("Employee", to: "Employee", "Address") { old, migration in
///             let employee = try migration.copy(old, to: "Employee")
///             let address = try migration.insert("Address")
///             address["street"] = old["street"]
///             employee.set("address", to: address)
///         },
///         .delete("LogLine"),
///     ])
///
/// Other entities are migrated as inferred from the differences of the versions. A mapping runs in batches, which an engine may make durable one by one. After
/// an interruption the migration resumes after the last batch, so a mapping must be deterministic and must not keep state between objects.
public struct SchemaMapping: Sendable {
    /// The name of the version before the migration.
    public let source: String
    /// The name of the version after the migration.
    public let destination: String
    let entities: [EntityMapping]
    let before: (@Sendable (MigrationContext) throws -> Void)?
    let after: (@Sendable (MigrationContext) throws -> Void)?

    /// Creates a mapping.
    ///
    /// - Parameters:
    ///   - source: The name of the version before the migration.
    ///   - destination: The name of the version after it.
    ///   - entities: The mappings of single entities.
    ///   - before: Called before the first object is migrated, as one batch.
    ///   - after: Called after every object is migrated and before the new version is validated, as one batch.
    public init(
        from source: String, to destination: String, _ entities: [EntityMapping] = [],
        before: (@Sendable (MigrationContext) throws -> Void)? = nil, after: (@Sendable (MigrationContext) throws -> Void)? = nil
    ) {
        self.source = source
        self.destination = destination
        self.entities = entities
        self.before = before
        self.after = after
    }
}

/// The migration of the objects of one entity.
public struct EntityMapping: Sendable {
    /// A closure that migrates one object.
    public typealias Transform = @Sendable (_ old: OldObject, _ migration: MigrationContext) throws -> Void

    enum Kind: Sendable {
        case copy(from: String, to: String, renaming: [String: String])
        /// `isUpdate` indicates that the closure only changes the copy of each object.
        case transform(from: String, to: [String], isUpdate: Bool, Transform)
        case empty(String)
        case delete(String)
    }

    let kind: Kind

    /// Copies every object with the properties that both versions have.
    ///
    /// An entity of the new version that has objects of its own keeps them; ``delete(_:)`` or ``empty(_:)`` removes them.
    /// - Parameters:
    ///   - source: The entity in the old version.
    ///   - destination: The entity or sub-entity in the new version; the same name by default.
    ///   - renaming: New names of properties, by their old names, in addition to those that the model declares with `originalName`.
    public static func copy(_ source: String, to destination: String? = nil, renaming: [String: String] = [:]) -> EntityMapping {
        EntityMapping(kind: .copy(from: source, to: destination ?? source, renaming: renaming))
    }

    /// Copies every object with the properties that both versions have, and changes the copy.
    ///
    /// In a hierarchy, objects of a sub-entity that the new version does not have are removed and reported as `lost`; the closure is not called for them.
    /// - Parameters:
    ///   - source: The entity in the old version.
    ///   - destination: The entity in the new version; the same name by default.
    ///   - change: Called with an old object and its copy.
    public static func update(
        _ source: String, to destination: String? = nil, _ change: @escaping @Sendable (_ old: OldObject, _ new: NewObject) throws -> Void
    ) -> EntityMapping {
        let destination = destination ?? source
        return EntityMapping(
            kind: .transform(from: source, to: [destination], isUpdate: true) { old, migration in
                try change(old, try migration.copy(old, to: destination))
            })
    }

    /// Calls a closure for every object. The closure creates any number of new objects.
    ///
    /// - Parameters:
    ///   - source: The entity in the old version.
    ///   - destinations: The entities or sub-entities in the new version whose objects the closure creates with ``MigrationContext/copy(_:to:)``; by default the
    ///     entity with the same name.
    ///   - transform: Called with an old object.
    public static func transform(
        _ source: String, to destinations: String..., using transform: @escaping Transform
    ) -> EntityMapping {
        EntityMapping(kind: .transform(from: source, to: destinations.isEmpty ? [source] : destinations, isUpdate: false, transform))
    }

    /// Starts an entity without objects, even if the old version has an entity with the same name. Core Data and CoreStore call this mapping "insert".
    public static func empty(_ destination: String) -> EntityMapping { EntityMapping(kind: .empty(destination)) }

    /// Removes every object of an entity of the old version.
    public static func delete(_ source: String) -> EntityMapping { EntityMapping(kind: .delete(source)) }
}
