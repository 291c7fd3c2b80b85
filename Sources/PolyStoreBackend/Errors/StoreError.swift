/// An error thrown by the framework or a backend.
///
/// `code` is stable and intended for programs. `message` describes the failure in a sentence and, where possible, how to fix it.
public struct StoreError: Error, Sendable, Hashable {
    /// The kind of an error. A struct, so that codes can be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code.
        public let description: String
        /// Creates a code with a name.
        public init(_ name: String) { description = name }

        /// A commit violates a constraint of the model: uniqueness, a required value, a count or a delete rule. See `attribute`.
        public static let constraint = Code("constraint")
        /// Another transaction modified the same object first.
        public static let conflict = Code("conflict")
        /// An object, a file or another named item does not exist.
        public static let notFound = Code("notFound")
        /// The bytes in the store are damaged.
        public static let corrupt = Code("corrupt")
        /// A space limit was reached: of the disk, the memory map or a count.
        public static let full = Code("full")
        /// Another connection, process or stack holds the store, or a server did not respond within its time limit. A backend that waits throws it at the end of
        /// the wait, so the object layer does not repeat the operation: its recovery is ``Recovery/timedOut``. A later attempt of the caller may succeed.
        public static let busy = Code("busy")
        /// The operation was not complete within the time limit of its caller.
        public static let timedOut = Code("timedOut")
        /// The store was written for another schema, or in a newer format, and cannot be opened or migrated with the given options.
        public static let incompatibleSchema = Code("incompatibleSchema")
        /// The store was written for an earlier schema version.
        public static let migrationRequired = Code("migrationRequired")
        /// The schema is invalid.
        public static let invalidSchema = Code("invalidSchema")
        /// No store of the stack contains the entity or has the configuration.
        public static let storeNotFound = Code("storeNotFound")
        /// Several stores can hold the object; specify the configuration.
        public static let ambiguousStore = Code("ambiguousStore")
        /// The URL is in use by another store or configuration.
        public static let differentStoreAtURL = Code("differentStoreAtURL")
        /// The file is not a store of this engine.
        public static let notAStore = Code("notAStore")
        /// A predicate is invalid for its entity.
        public static let invalidPredicate = Code("invalidPredicate")
        /// The backend does not support the operation; see its capabilities.
        public static let unsupported = Code("unsupported")
        /// The operation was cancelled by its caller.
        public static let cancelled = Code("cancelled")
        /// The store, transaction or context is closed.
        public static let closed = Code("closed")
        /// A precondition of the API was violated.
        public static let misuse = Code("misuse")
        /// The store or transaction does not permit changes.
        public static let readOnly = Code("readOnly")
        /// The operating system reported an error, such as a missing permission, a missing folder or a failed read.
        public static let io = Code("io")
        /// The history entries that follow a token have been removed.
        public static let historyExpired = Code("historyExpired")
        /// A value is invalid for its attribute, for example in imported data, or does not fit its type, for example a sum of integers.
        public static let invalidValue = Code("invalidValue")
    }

    /// The kind of the error.
    public var code: Code
    /// The recovery that was assigned, if it differs from that of the code.
    var assignedRecovery: Recovery?
    /// A description of the failure.
    public var message: String
    /// The stored name of the entity concerned.
    public var entity: String?
    /// The stored name of the attribute or relationship concerned.
    public var attribute: String?
    /// The index of the field that could not be decoded; set by decoders, which do not know its name, until the context replaces it by `attribute`.
    package var fieldIndex: Int?
    /// The row id of the object concerned.
    public var rowID: Int64?
    /// The location of the store: the absolute path of its file or folder, `memory:` and a number for a store in memory, and the text of
    /// an invalid store URL, without passwords.
    public var location: String?
    /// The error code of the engine; 0 if there is none.
    public var engineCode: Int
    /// The error message of the engine.
    public var underlying: String?
    /// For `constraint`: every violation found by a commit, in order; empty if the backend found the violation, as for unique values.
    /// For `notFound` from an import: the references of objects whose targets are required and do not exist. References that a closure resolves are not included.
    public var violations: [Violation] = []
    /// For `conflict` between transactions: every object that both transactions modified.
    public var conflicts: [ObjectConflict] = []
    /// For `migrationRequired`: the schema that the store was written for.
    public var storedSchema: SchemaDescription?
    /// For `differentStoreAtURL`: the name of the configuration that the store was created with; nil for the default one, and if the store belongs to another stack.
    public var storedConfiguration: String?

    /// Creates an error. Parameters that do not apply keep their defaults.
    public init(
        _ code: Code, _ message: String, entity: String? = nil, attribute: String? = nil, rowID: Int64? = nil, location: String? = nil,
        engineCode: Int = 0, underlying: String? = nil, recovery: Recovery? = nil
    ) {
        self.code = code
        self.message = message
        self.entity = entity
        self.attribute = attribute
        self.rowID = rowID
        self.location = location
        self.engineCode = engineCode
        self.underlying = underlying
        if let recovery { self.recovery = recovery }
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        var text = "\(code): \(message)"
        if let location, !message.contains(location) { text += " [\(location)]" }
        if let underlying { text += " (\(underlying))" }
        return text
    }
}
