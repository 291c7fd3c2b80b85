import PolyStoreBackend

/// The minimum and maximum row id that satisfy the conditions on the row id. The conditions are evaluated again for each row, at no significant cost.
struct IDBounds {
    private let least: Int64
    private let greatest: Int64

    /// - Returns: `nil` if no condition bounds the row id.
    init?(_ conjuncts: [QueryPredicate]) {
        var least: Int64?
        var greatest: Int64?
        for part in conjuncts {
            guard case .compare(.objectID, let comparison, .integer(let id))? = part.fieldCondition else { continue }
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

    /// Returns the keys with a prefix that end with one of the row ids.
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
