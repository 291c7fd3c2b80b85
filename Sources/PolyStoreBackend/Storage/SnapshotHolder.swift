/// Something that keeps a store from removing earlier versions of its rows: a transaction of any client, or a replication slot of the server. The store grows as long as it lasts.
public struct SnapshotHolder: Sendable, Hashable, Codable {
    /// The kind of a holder.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// A transaction, of this process or of another client.
        case transaction
        /// A transaction that was prepared for a commit in two phases, and belongs to no connection.
        case preparedTransaction
        /// A replica that follows the server, with a slot or without.
        case replicationSlot
    }

    /// The kind.
    public var kind: Kind
    /// The process that holds the versions, as the server numbers it; nil if it has none.
    public var process: Int64?
    /// The name of the application, of the prepared transaction or of the slot.
    public var name: String?
    /// The user.
    public var user: String?
    /// The activity of a transaction, in the words of the engine, such as `idle in transaction`; nil if the user of the store may not see it.
    public var state: String?
    /// The time since the transaction began; nil if the engine does not know it, or the user of the store may not see it.
    public var age: Duration?

    /// Creates a description of a holder.
    public init(
        _ kind: Kind, process: Int64? = nil, name: String? = nil, user: String? = nil, state: String? = nil, age: Duration? = nil
    ) {
        self.kind = kind
        self.process = process
        self.name = name
        self.user = user
        self.state = state
        self.age = age
    }
}

extension SnapshotHolder: CustomStringConvertible {
    /// The holder as text: `transaction of process 4711 (psql, user jane, idle in transaction, 75 s)`.
    public var description: String {
        var details = [user.map { "user \($0)" }, state, age.map { "\($0.components.seconds) s" }].compactMap { $0 }
        let subject: String
        switch kind {
        case .transaction:
            subject = "transaction" + (process.map { " of process \($0)" } ?? "")
            if let name, !name.isEmpty { details.insert(name, at: 0) }
        case .preparedTransaction: subject = "prepared transaction \"\(name ?? "")\""
        case .replicationSlot:
            subject = "replication slot \"\(name ?? "")\""
            if let process { details.append("process \(process)") }
        }
        return subject + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }
}
