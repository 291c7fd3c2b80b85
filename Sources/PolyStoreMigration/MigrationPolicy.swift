import PolyStoreKernel

/// The migrations that may be performed when a store is opened.
public struct MigrationPolicy: Sendable, Hashable {
    enum Path: Sendable, Hashable {
        /// A single step without mapping.
        case lightweight
        /// The chain of the stack's history, or another one.
        case chain(MigrationChain?)
    }

    let path: Path
    /// A Boolean value that indicates whether a store may be migrated to an earlier version of its own.
    private(set) var allowsDowngrade = false
    /// The path of a copy of the store before its migration; `nil` for no copy.
    private(set) var copyLocation: String?
    /// A Boolean value that indicates whether targets of relationships that the new version cannot hold are dropped and reported.
    private(set) var losesLinks = false
    /// A Boolean value that indicates whether a store of another version is emptied instead.
    private(set) var erases = false

    /// A Boolean value that indicates whether the stored schema is replaced if only declarations that change no stored data differ.
    private(set) var replacesDeclarations = false

    /// Migrates from the store's version to the current one in a single step that is inferred from their differences. No mapping runs.
    ///
    /// A store that had the current version before its own is refused with `incompatibleSchema`; see ``lightweight(allowsDowngrade:)``.
    public static let lightweight = MigrationPolicy(path: .lightweight)

    /// Migrates in a single inferred step, like ``lightweight``, also back to an earlier version of the store or to one of another branch.
    ///
    /// A store keeps the versions that it has had. An application of an earlier version would remove what the later version has added, so every other policy
    /// refuses it. Allow it while developing, for example to switch between branches. Properties and entities that the later version has renamed keep their data. The
    /// findings of kind `lost` in the ``MigrationReport`` name the data that a downgrade removes; ``DataStack/rehearseMigration(of:configuration:migrating:)``
    /// returns them without changing the store.
    /// - Parameter allowsDowngrade: Whether the store may be migrated to an earlier version.
    public static func lightweight(allowsDowngrade: Bool) -> MigrationPolicy {
        var policy = lightweight
        policy.allowsDowngrade = allowsDowngrade
        return policy
    }

    /// Migrates nothing: a store of another version is emptied when it is added, with all its objects. For the time before the first release, and for caches. The
    /// same as `StoreConfiguration.resettingOnModelMismatch()`.
    ///
    /// Only ``DataStack/addStore(_:configuration:migrating:history:file:line:)`` and its variant with progress take it; the other functions
    /// throw `misuse`, and so does a policy that also keeps a copy.
    public static let eraseOnMismatch: MigrationPolicy = {
        var policy = lightweight
        policy.erases = true
        return policy
    }()

    /// Follows the migration chain of the stack's ``SchemaHistory``, with its mappings. Without a chain, migrates to the current version in a single step.
    public static let chain = MigrationPolicy(path: .chain(nil))

    /// Follows a given chain instead of that of the stack's history. It must end with the current version.
    public static func chain(_ chain: MigrationChain) -> MigrationPolicy { MigrationPolicy(path: .chain(chain)) }

    /// Returns the policy with a copy of the store, which is written before the migration begins and is kept.
    ///
    /// The copy is written after the check, so a refused migration writes none. If the first step fails or is cancelled, the copy is deleted.
    /// - Parameter path: The path of the copy: a nonexistent file or folder in an existing folder.
    public func keepingCopy(at path: String) -> MigrationPolicy {
        var copy = self
        copy.copyLocation = path
        return copy
    }

    /// Returns the policy with a permission to drop targets of relationships that the new version cannot hold.
    ///
    /// A relationship that leads to one object in the new version may have several candidates in the old one: it led to several objects, several objects led to
    /// it, or its ends disagree. Without the permission such a migration is refused. With it, an end that leads to one object chooses the first target of its own
    /// relationship, or else the object with the lowest row id that leads to it. A pair of objects remains only if each end that leads to one object chooses it,
    /// so an object whose choice belongs to another object has no target. The report of the migration contains the objects with several candidates as `lost`, also
    /// those for which a closure of a mapping chooses the target.
    public func allowingLostLinks() -> MigrationPolicy {
        var copy = self
        copy.losesLinks = true
        return copy
    }

    /// Returns the policy with the replacement of a stored schema of the same data whose defaults, rules, delete rules, plain indexes or original names differ.
    ///
    /// A stack with classes has these declarations in its classes, and such a store needs no migration. Programs that open the store without classes, and other tools, have those of
    /// the stored schema, which is written when the store is created or migrated. No object is read or written; the objects need not obey the new rules.
    ///
    /// The replacement is a migration of the store: other stacks and processes that have it open get `differentStoreAtURL`, and open it again. A stored schema with another name is
    /// replaced only if the stack's ``SchemaHistory`` lists it, so that an application of an earlier version does not write its declarations back; ``lightweight(allowsDowngrade:)``
    /// permits it. A store that is opened read-only, and one of a backend that cannot migrate, keeps its schema; the log has a notice where a replacement was left out.
    public func replacingDeclarations() -> MigrationPolicy {
        var copy = self
        copy.replacesDeclarations = true
        return copy
    }
}
