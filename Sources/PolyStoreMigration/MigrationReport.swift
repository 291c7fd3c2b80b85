import PolyStoreBackend
import PolyStoreKernel

/// The result of a migration or of a rehearsal.
public struct MigrationReport: Sendable, Hashable, Codable {
    /// Something that a migration loses or that prevents it.
    public struct Finding: Sendable, Hashable, Codable {
        /// The kinds of findings.
        public enum Kind: String, Sendable, Hashable, Codable {
            /// Values or objects that the new version cannot represent.
            case lost
            /// A problem that must be corrected before the migration can be performed.
            case refused
            /// Several objects have a value that must be unique in the new version. Prevents the migration.
            case duplicate
        }

        /// The kind of the finding.
        public let kind: Kind
        /// The name of the entity: in the old version for lost data, otherwise in the new version.
        public let entity: String
        /// The name of the property; `nil` if the finding concerns whole objects.
        public let property: String?
        /// A description of the problem and its solution.
        public let message: String
        /// The number of affected objects; 0 if the finding concerns the schema itself.
        public internal(set) var count: Int
        /// The row ids of the first affected objects, in ascending order. Those of a later step are the row ids after the steps before it.
        public internal(set) var rowIDs: [Int64]
        /// The step that the finding concerns, as an index of ``MigrationReport/steps``.
        public internal(set) var step = 0
        /// A Boolean value that indicates whether the policy of the migration permits the loss: dropped targets of relationships; see ``MigrationPolicy/allowingLostLinks()``.
        public var isPermitted: Bool { permission ?? false }
        /// Nil in place of false, so that reports without it can be decoded.
        private let permission: Bool?

        init(
            _ kind: Kind, _ entity: String, _ property: String?, _ message: String, count: Int = 0, rowIDs: [Int64] = [],
            isPermitted: Bool = false
        ) {
            permission = isPermitted ? true : nil
            self.kind = kind
            self.entity = entity
            self.property = property
            self.message = message
            self.count = count
            self.rowIDs = rowIDs
        }

        /// A Boolean value that indicates whether the finding prevents the migration.
        public var preventsMigration: Bool { kind != .lost }
    }

    /// One step of a migration between two versions.
    public struct Step: Sendable, Hashable, Codable {
        /// The versions of the step, and whether a mapping runs.
        public let type: MigrationType
        /// Descriptions of the differences between the versions.
        public let changes: [String]
        /// The number of objects whose records were rewritten instead of carried over.
        public internal(set) var rewrittenObjects = 0
        /// A Boolean value that indicates whether the objects were examined. In a rehearsal it is `false` for the steps after one that is refused, whose objects
        /// do not exist, and for later steps of a backend that cannot copy its stores.
        public internal(set) var isRehearsed = true
    }

    /// The steps, in order. Empty if the store has the current version.
    public internal(set) var steps: [Step] = []
    /// The data losses and the problems that prevent the migration.
    public internal(set) var findings: [Finding] = []
    /// The path of the copy of the store before the migration; `nil` if no copy was requested.
    public internal(set) var copy: String?

    /// A Boolean value that indicates whether the migration can be performed.
    public var isPossible: Bool { !findings.contains(where: \.preventsMigration) }
}

extension MigrationReport: CustomStringConvertible {
    public var description: String {
        if steps.isEmpty { return "No migration is needed." }
        var lines: [String] = []
        for (index, step) in steps.enumerated() {
            lines.append("\(step.type)")
            lines += step.changes.map { "  \($0)" }
            if !step.isRehearsed { lines.append("  Its objects were not examined.") }
            for finding in findings where finding.step == index {
                let ids = finding.rowIDs.map(String.init).joined(separator: ", ")
                let rows = finding.count == 0 ? "" : " (\(finding.count): \(ids)\(finding.count > finding.rowIDs.count ? ", …" : ""))"
                lines.append("\(finding.kind.rawValue): \(finding.message)\(rows)")
            }
        }
        return lines.joined(separator: "\n")
    }
}

extension MigrationReport.Finding {
    /// Returns the finding as the error that ends a migration.
    func error(location: String) -> StoreError {
        var text = message
        if count > 0 {
            let ids = rowIDs.map(String.init).joined(separator: ", ")
            text += " \(count == 1 ? "Object" : "\(count) objects, the first of them"): \(ids)."
        }
        return StoreError(
            count > 0 ? .constraint : .incompatibleSchema, "The store \(location) cannot be migrated: \(text) It was left as it is.",
            entity: entity,
            attribute: property, rowID: rowIDs.first, location: location)
    }
}
