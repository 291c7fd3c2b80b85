/// The name of a value in the metadata of a log message. Names are stable, unlike the text of messages.
public struct LogKey: Sendable, Hashable, CustomStringConvertible {
    /// The name as text, for example `duration_ms`.
    public let description: String
    /// Creates a key with a name.
    public init(_ name: String) { description = name }

    /// `operation`: what was measured: `fetch`, `count`, `query`, `look-up`, `transaction`, `commit`, `wait`.
    public static let operation = LogKey("operation")
    /// `duration_ms`: the duration in milliseconds.
    public static let milliseconds = LogKey("duration_ms")
    /// `store`: the location of the store. Several are separated by commas.
    public static let store = LogKey("store")
    /// `entity`: the stored name of the entity. Several are separated by commas.
    public static let entity = LogKey("entity")
    /// `plan`: the plan of a query.
    public static let plan = LogKey("plan")
    /// `transactions`: the number of transactions in a commit.
    public static let transactions = LogKey("transactions")
    /// `inserted`: the number of inserted objects.
    public static let inserted = LogKey("inserted")
    /// `updated`: the number of updated objects.
    public static let updated = LogKey("updated")
    /// `deleted`: the number of deleted objects.
    public static let deleted = LogKey("deleted")
    /// `values`: the number of named values that were set or removed.
    public static let values = LogKey("values")
}

/// A value in the metadata of a log message.
public enum LogValue: Sendable, Hashable, CustomStringConvertible {
    /// A text.
    case text(String)
    /// A count.
    case count(Int)
    /// Another number, such as a duration.
    case number(Double)

    /// The value as text.
    public var description: String {
        switch self {
        case .text(let text): text
        case .count(let count): String(count)
        case .number(let number): String(number)
        }
    }
}

/// The minimum durations of writes that are logged at `warning`; nil disables the measurement.
///
///     stack.slowWriteThresholds = SlowWriteThresholds(transaction: .milliseconds(100), commit: .milliseconds(50), wait: .seconds(1))
public struct SlowWriteThresholds: Sendable, Hashable {
    /// The minimum duration of a queued transaction: its body, the validation, and the application of its changes to the stores. Its commit is not included.
    public var transaction: Duration?
    /// The minimum duration of the commit of one or more transactions to a store, including the flush.
    public var commit: Duration?
    /// The minimum duration of a wait for the writer: for the preceding transactions of the stack, or for a store that another stack or process is writing to.
    public var wait: Duration?

    /// Creates thresholds.
    public init(transaction: Duration? = nil, commit: Duration? = nil, wait: Duration? = nil) {
        self.transaction = transaction
        self.commit = commit
        self.wait = wait
    }
}

/// The numbers of changes in change sets, for log messages.
package struct ChangeCounts {
    private var inserted = 0
    private var updated = 0
    private var deleted = 0
    private var values = 0
    private var entities: Set<String> = []

    /// Counts the changes of change sets.
    package init(_ sets: [ChangeSet]) {
        for set in sets {
            for change in set.changes {
                switch change.kind {
                case .insert: inserted += 1
                case .update: updated += 1
                case .delete: deleted += 1
                }
                entities.insert(set.schema.entities[change.entity].name)
            }
            values += set.values.count
        }
    }

    /// The numbers as a part of a sentence.
    package var text: String {
        "\(inserted) inserted, \(updated) updated, \(deleted) deleted" + (values == 0 ? "" : ", \(values) named values set")
    }

    /// The numbers and the names of the entities, with the locations of the stores.
    package func metadata(_ stores: [String]) -> [LogKey: LogValue] {
        [
            .inserted: .count(inserted), .updated: .count(updated), .deleted: .count(deleted), .values: .count(values),
            .entity: .text(entities.sorted().joined(separator: ",")), .store: .text(stores.joined(separator: ",")),
        ]
    }

    /// The numbers in the stores, as the details of a slow operation.
    package func details(_ stores: [String]) -> (text: String, metadata: [LogKey: LogValue]) {
        (stores.isEmpty ? text : "\(text) in \(stores.joined(separator: ", "))", metadata(stores))
    }
}
