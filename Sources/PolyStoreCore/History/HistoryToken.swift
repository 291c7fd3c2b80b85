import PolyStoreBackend

/// A point in the history of a stack's stores. Pass it to ``DataStack/history(since:matching:limit:file:line:)`` to read the transactions that were committed
/// afterwards.
///
/// Tokens remain valid across restarts: encode one with `Codable` and store it with the data that was derived from the history.
public struct HistoryToken: Sendable, Hashable, Codable {
    /// The position of the last entry that was read, by ``PersistentStore/storeID``.
    private(set) var positions: [String: Int64] = [:]

    init(_ positions: [String: Int64] = [:]) { self.positions = positions }

    /// Returns the position of the last entry that was read in the history of a store; `nil` if the token does not contain the store.
    public func position(in storeID: String) -> Int64? { positions[storeID] }

    mutating func advance(_ storeID: String, to position: Int64) { positions[storeID] = position }

    public init(from decoder: any Decoder) throws {
        positions = try decoder.singleValueContainer().decode([String: Int64].self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(positions)
    }
}

extension HistoryToken: CustomStringConvertible {
    public var description: String { positions.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " ") }
}
