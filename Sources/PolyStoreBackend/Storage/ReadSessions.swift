/// The resources that a backend needs for each snapshot and keeps for later ones, such as connections or reader slots.
public struct ReadSessions: Sendable, Hashable, Codable {
    /// The number of sessions with an open snapshot.
    public var active: Int
    /// The number of open sessions without a snapshot, which later snapshots reuse.
    public var idle: Int
    /// The maximum number of idle sessions. A session that ends beyond it is closed.
    public var maximumIdle: Int

    /// Creates the numbers of sessions.
    public init(active: Int, idle: Int, maximumIdle: Int) {
        self.active = active
        self.idle = idle
        self.maximumIdle = maximumIdle
    }
}

extension ReadSessions: CustomStringConvertible {
    /// The numbers as text.
    public var description: String { "\(active) active and \(idle) of at most \(maximumIdle) idle sessions" }
}
