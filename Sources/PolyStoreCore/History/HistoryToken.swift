import PolyStoreBackend

/// A point in the history of a stack's stores: everything up to it has been seen. Pass it to ``DataStack/history(since:matching:limit:)`` to read what was committed
/// afterwards.
///
/// Tokens are values that survive restarts: encode one with `Codable` and keep it with what was derived from the history.
public struct HistoryToken: Sendable, Hashable, Codable {
    /// The position of the last entry that was seen, by ``PersistentStore/storeID``.
    private(set) var positions: [String: Int64] = [:]

    init(_ positions: [String: Int64] = [:]) { self.positions = positions }

    /// The position of the last entry seen in the history of a store; nil: the token does not name the store.
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
