/// Every error that the framework and its backends throw.
///
/// `code` is stable and meant for programs, `message` is a sentence for a person that names the thing and, where there is one, the way out.
public struct StoreError: Error, Sendable, Hashable {
    /// What kind of error it is. A struct, so that codes can be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let description: String
        public init(_ name: String) { description = name }

        /// A rule of the model was broken: unique, required, count, delete rule. See `attribute`.
        public static let constraint = Code("constraint")
        /// Another writer changed the same thing first.
        public static let conflict = Code("conflict")
        public static let notFound = Code("notFound")
        /// The bytes in the store are not what they must be.
        public static let corrupt = Code("corrupt")
        /// No room: disk, map or limit.
        public static let full = Code("full")
        /// Somebody else holds the store; trying again may help.
        public static let busy = Code("busy")
        /// The store was written for another model and cannot be migrated as asked.
        public static let incompatibleSchema = Code("incompatibleSchema")
        /// The store was written for an earlier version of the model.
        public static let migrationRequired = Code("migrationRequired")
        /// The model itself is wrong.
        public static let invalidSchema = Code("invalidSchema")
        /// No store of the stack holds the entity or the configuration.
        public static let storeNotFound = Code("storeNotFound")
        /// More than one store could take the object; name the configuration.
        public static let ambiguousStore = Code("ambiguousStore")
        /// The URL is in use by another store or configuration.
        public static let differentStoreAtURL = Code("differentStoreAtURL")
        /// The file is no store of this kind.
        public static let notAStore = Code("notAStore")
        public static let invalidPredicate = Code("invalidPredicate")
        /// The backend does not claim this; see its capabilities.
        public static let unsupported = Code("unsupported")
        /// The transaction was given up on purpose.
        public static let cancelled = Code("cancelled")
        public static let closed = Code("closed")
        /// The caller broke a rule of the API.
        public static let misuse = Code("misuse")
        public static let readOnly = Code("readOnly")
        /// The operating system refused: permission, missing folder, I/O.
        public static let io = Code("io")
        /// The entries of the history behind a token are no longer kept.
        public static let historyExpired = Code("historyExpired")
        /// A value in imported data is not what it must be.
        public static let invalidValue = Code("invalidValue")
    }

    public var code: Code
    public var message: String
    public var entity: String?
    public var attribute: String?
    public var objectID: Int64?
    /// The store's URL or path.
    public var url: String?
    /// The engine's own code, 0 where there is none.
    public var engineCode: Int
    /// The engine's own words.
    public var underlying: String?
    /// Of a `constraint` that a commit has found: every rule that any object breaks, in order. Empty where the backend has found it, as of unique values.
    /// Of a `notFound` of an import: every reference that leads nowhere.
    public var violations: [Violation] = []
    /// Of a `conflict` between transactions: every object that was changed in two places at once.
    public var conflicts: [ObjectConflict] = []

    public init(
        _ code: Code, _ message: String, entity: String? = nil, attribute: String? = nil, objectID: Int64? = nil, url: String? = nil,
        engineCode: Int = 0, underlying: String? = nil
    ) {
        self.code = code
        self.message = message
        self.entity = entity
        self.attribute = attribute
        self.objectID = objectID
        self.url = url
        self.engineCode = engineCode
        self.underlying = underlying
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        var text = "\(code): \(message)"
        if let url, !message.contains(url) { text += " [\(url)]" }
        if let underlying { text += " (\(underlying))" }
        return text
    }
}
