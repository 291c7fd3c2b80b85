import PolyStoreBackend

/// The use of an index for a request: the ranges of entries that can contain results.
struct IndexSearch {
    let index: KeyIndex
    /// The ascending, disjoint ranges.
    var ranges: [KeyRange]
    /// The number of leading fields with exactly one value in all ranges.
    var fixedFields = 0
    /// The number of leading fields with one of several values.
    var pointFields = 0
    /// A Boolean value that indicates whether the next field is bounded.
    var hasRange = false
    /// The indexes of conjuncts that are true for all entries in the ranges. The others must still be evaluated.
    var satisfied: Set<Int> = []
    /// The conditions for `explain`.
    var conditions: [String] = []

    /// The maximum number of ranges.
    private static let mostRanges = 4096

    var isSearch: Bool { pointFields > 0 || hasRange }
    /// A Boolean value that indicates whether the ranges contain at most one object.
    var isUniqueMatch: Bool { index.isUnique && fixedFields == index.fields.count && ranges.count == 1 }

    init(_ index: KeyIndex, _ conjuncts: [QueryPredicate]) {
        self.index = index
        ranges = []
        var prefixes: [[UInt8]] = [index.prefix]
        let keys = KeyWriter()
        for (position, field) in index.fields.enumerated() {
            let bounds = conjuncts.enumerated().compactMap { index, predicate in
                FieldBound(predicate, field: field).map { ConjunctBound(conjunct: index, bound: $0) }
            }
            if let next = Self.extend(prefixes, with: bounds, field, reserve: index.reserves[position], keys) {
                prefixes = next.prefixes
                satisfied.formUnion(next.satisfied)
                if next.count == 1, fixedFields == pointFields { fixedFields += 1 }
                pointFields += 1
                conditions.append(next.count == 1 ? "\(field.name)=?" : "\(field.name) IN (?)")
                continue
            }
            bound(prefixes, bounds, field, reserve: index.reserves[position], keys)
            break
        }
        if ranges.isEmpty, !isEmptyRange { ranges = prefixes.map { KeyRange(prefix: $0) } }
        // The row id follows the values of all fields.
        if pointFields == index.fields.count, !index.isUnique, let bounds = IDBounds(conjuncts) {
            ranges = prefixes.map { bounds.range(behind: $0, keys) }.filter { !$0.isEmpty }
            conditions.append("objectID BETWEEN ?")
        }
        ranges.sort { $0.start.lexicographicallyPrecedes($1.start) }
    }

    /// Moves null after the other values of the field that follows the fixed ones, if ``ranges`` is a complete prefix.
    mutating func putNullsLast() {
        guard ranges.count == 1 else { return }
        let prefix = ranges[0].start
        let null = KeyRange(prefix: prefix + [0x05])
        ranges = [KeyRange(null.end, ranges[0].end), null]
    }

    /// A Boolean value that indicates whether the bounds exclude each other.
    private var isEmptyRange = false

    /// The bound that a conjunct sets on a field.
    private struct ConjunctBound {
        /// The index of the conjunct.
        let conjunct: Int
        let bound: FieldBound
    }

    /// Extends every prefix with every value that the field can have.
    private static func extend(
        _ prefixes: [[UInt8]], with bounds: [ConjunctBound], _ field: Field, reserve: Int, _ keys: KeyWriter
    ) -> (prefixes: [[UInt8]], satisfied: Set<Int>, count: Int)? {
        var best: (conjunct: Int, values: [Value])?
        for bound in bounds {
            if case .points(let values) = bound.bound, values.count < best?.values.count ?? .max { best = (bound.conjunct, values) }
        }
        guard let best, prefixes.count * best.values.count <= mostRanges else { return nil }
        var isExact = true
        var continued: [[UInt8]] = []
        continued.reserveCapacity(prefixes.count * best.values.count)
        for prefix in prefixes {
            for value in best.values {
                keys.removeAll()
                prefix.withUnsafeBytes { keys.append(raw: $0) }
                keys.append(value, type: field.type, reserve: reserve)
                if keys.isCut { isExact = false }
                continued.append(keys.bytes)
            }
        }
        continued.sort { left, right in left.withUnsafeBytes { left in right.withUnsafeBytes { Order.of(left, $0) < 0 } } }
        var last = 0
        for position in continued.indices.dropFirst() where continued[position] != continued[last] {
            last += 1
            continued.swapAt(last, position)
        }
        continued.removeLast(max(continued.count - last - 1, 0))
        // Different values can have the same truncated key.
        let count = isExact && !prefixes.isEmpty ? continued.count / prefixes.count : Set(best.values).count
        return (continued, isExact ? [best.conjunct] : [], count)
    }

    /// Restricts every prefix to the ranges that satisfy the bounds.
    private mutating func bound(
        _ prefixes: [[UInt8]], _ bounds: [ConjunctBound], _ field: Field, reserve: Int, _ keys: KeyWriter
    ) {
        guard !bounds.isEmpty else { return }
        var found: [KeyRange] = []
        var exact: Set<Int> = []
        var words: [String] = []
        for (prefixIndex, prefix) in prefixes.enumerated() {
            // Null never satisfies a bound.
            var range = KeyRange(KeyRange.successor(prefix + [0x05]), KeyRange.successor(prefix))
            var isBounded = false
            for bound in bounds {
                let part: (range: KeyRange, isExact: Bool, word: String)
                switch bound.bound {
                case .points: continue
                case .notNull: part = (range, true, "\(field.name) IS NOT NULL")
                case .above(let value, let isIncluded):
                    let edge = Self.edge(prefix, value, field, reserve, keys)
                    // After all entries of the value, or before them.
                    let start = isIncluded || !edge.isExact ? edge.bytes : KeyRange.successor(edge.bytes)
                    part = (KeyRange(start, range.end), edge.isExact, "\(field.name)\(isIncluded ? ">=" : ">")?")
                case .below(let value, let isIncluded):
                    let edge = Self.edge(prefix, value, field, reserve, keys)
                    let end = isIncluded || !edge.isExact ? KeyRange.successor(edge.bytes) : edge.bytes
                    part = (KeyRange(range.start, end), edge.isExact, "\(field.name)\(isIncluded ? "<=" : "<")?")
                case .beginning(let text):
                    keys.removeAll()
                    prefix.withUnsafeBytes { keys.append(raw: $0) }
                    var text = text
                    let isExact = text.withUTF8 {
                        keys.appendBeginning(UnsafeRawBufferPointer($0), type: field.type, reserve: reserve)
                    }
                    part = (KeyRange(prefix: keys.bytes), isExact, "\(field.name) BEGINSWITH ?")
                }
                isBounded = true
                if range.start.lexicographicallyPrecedes(part.range.start) { range.start = part.range.start }
                if part.range.end.lexicographicallyPrecedes(range.end) { range.end = part.range.end }
                if part.isExact { exact.insert(bound.conjunct) }
                if prefixIndex == 0 { words.append(part.word) }
            }
            guard isBounded else { return }
            if !range.isEmpty { found.append(range) }
        }
        hasRange = true
        satisfied.formUnion(exact)
        conditions += words
        ranges = found
        isEmptyRange = found.isEmpty
    }

    /// Returns the position of a value among the values of a field.
    /// - Returns: the common prefix of all entries of the value. If it is not exact, other entries on both sides have the prefix too.
    private static func edge(_ prefix: [UInt8], _ value: Value, _ field: Field, _ reserve: Int, _ keys: KeyWriter) -> (
        bytes: [UInt8], isExact: Bool
    ) {
        keys.removeAll()
        prefix.withUnsafeBytes { keys.append(raw: $0) }
        guard field.type.fixedWidth == 0, field.type != .uuid else {
            keys.append(value, type: field.type, reserve: reserve)
            return (keys.bytes, true)
        }
        let isWhole: Bool
        switch value {
        case .text(var text):
            isWhole = text.withUTF8 { keys.appendBeginning(UnsafeRawBufferPointer($0), type: field.type, reserve: reserve) }
        case .blob(let blob): isWhole = blob.withUnsafeBytes { keys.appendBeginning($0, type: field.type, reserve: reserve) }
        default: isWhole = false
        }
        // The value is longer than a truncated entry: the key alone does not determine the order.
        guard isWhole else { return (keys.bytes, false) }
        keys.append(byte: 0x00)
        keys.append(byte: 0x01)
        return (keys.bytes, true)
    }
}
