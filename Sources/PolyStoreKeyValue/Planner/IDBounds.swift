import PolyStoreBackend

/// The least and the greatest id that conditions on the id leave. The conditions are tested again on each row, as that costs nothing.
struct IDBounds {
    private let least: Int64
    private let greatest: Int64

    /// - Returns: nil where no condition bounds the id.
    init?(_ conjuncts: [QueryPredicate]) {
        var least: Int64?
        var greatest: Int64?
        for part in conjuncts {
            guard case .compare(.objectID, let comparison, .integer(let id)) = part.node else { continue }
            switch comparison {
            case .greater, .greaterOrEqual: least = max(least ?? id, id)
            case .less, .lessOrEqual: greatest = min(greatest ?? id, id)
            default: continue
            }
        }
        if least == nil && greatest == nil { return nil }
        self.least = least ?? .min
        self.greatest = greatest ?? .max
    }

    /// The keys that begin with some bytes and end with one of the ids.
    func range(behind prefix: [UInt8], _ keys: KeyWriter) -> KeyRange {
        func key(_ id: Int64) -> [UInt8] {
            keys.removeAll()
            prefix.withUnsafeBytes { keys.append(raw: $0) }
            keys.append(id: id)
            return keys.bytes
        }
        return KeyRange(key(least), KeyRange.successor(key(greatest)))
    }
}
