import PolyStoreKernel

/// One step of a migration.
public enum MigrationType: Sendable, Hashable, Codable {
    /// The migration is inferred from the differences of the two versions and runs no application code.
    case lightweight(sourceVersion: String, destinationVersion: String)
    /// The migration runs a ``SchemaMapping`` of the application.
    case heavyweight(sourceVersion: String, destinationVersion: String)

    /// The name of the version before the step.
    public var sourceVersion: String {
        switch self {
        case .lightweight(let source, _), .heavyweight(let source, _): source
        }
    }

    /// The name of the version after the step.
    public var destinationVersion: String {
        switch self {
        case .lightweight(_, let destination), .heavyweight(_, let destination): destination
        }
    }

    /// A Boolean value that indicates whether the step runs no application code.
    public var isLightweightMigration: Bool {
        if case .lightweight = self { true } else { false }
    }

    /// A Boolean value that indicates whether the step runs a mapping of the application; the opposite of ``isLightweightMigration``. CoreStore has both names.
    public var isHeavyweightMigration: Bool { !isLightweightMigration }
}

extension MigrationType: CustomStringConvertible {
    public var description: String {
        "\(isLightweightMigration ? "lightweight" : "heavyweight") from \"\(sourceVersion)\" to \"\(destinationVersion)\""
    }
}
