import PolyStoreBackend
import PolyStoreCore

/// The counts of a scan so far.
struct FacetTally {
    var counted = 0
    var nulls = 0
    /// The number of objects with each value.
    private(set) var values: [ExactValue: Int] = [:]
    private var bytes = 0
    /// Whether there are values that are not counted, because there are too many different ones.
    var hasTooManyValues = false
    /// The division into ranges; nil for values that are neither numbers nor dates.
    let ranges: FacetRanges?
    /// The number of objects in each range.
    var rangeCounts: [Int]
    private var below = 0
    private var above = 0

    /// The greatest number of different values that are counted, so that the memory is bounded.
    static let mostValues = 10_000
    private static let mostBytes = 8 << 20

    init(_ ranges: FacetRanges?) {
        self.ranges = ranges
        rangeCounts = [Int](repeating: 0, count: ranges?.edges.count ?? 0)
    }

    mutating func add(_ value: QueryValue?) {
        counted += 1
        guard let value else {
            nulls += 1
            return
        }
        if let ranges, let number = BrowserValue.number(of: value) {
            if number.isNaN || number == -.infinity {
                below += 1
            } else if number == .infinity {
                above += 1
            } else if let position = ranges.position(of: number) {
                rangeCounts[position] += 1
            }
        }
        let exact = ExactValue(value)
        if let count = values[exact] {
            values[exact] = count + 1
        } else if values.count < Self.mostValues, bytes < Self.mostBytes {
            values[exact] = 1
            bytes += ColumnPlan.size(value)
        } else {
            hasTooManyValues = true
        }
    }

    /// Returns the numbers of objects that are in no range: null, if it is possible, and what is not finite.
    func specialCounts(_ count: Int, isOptional: Bool) -> [Int] { Array(((isOptional ? [nulls] : []) + [below, above]).prefix(count)) }
}

/// Reads the values of a property of all objects in parts.
final class FacetScan {
    private let reader: FacetReader
    private let context: Context
    /// The number of objects; nil until it is known.
    private(set) var total: Int?
    /// The number of objects that are read together. It grows while their values are small.
    private var part = 64

    private static let mostInPart = 4096
    /// The number of bytes of values that are read together, approximately.
    private static let mostBytes = 4 << 20
    /// The least time between two reports.
    private static let pause = Duration.milliseconds(200)

    init(_ reader: FacetReader, _ context: Context) { (self.reader, self.context) = (reader, context) }

    func run(_ report: (FacetTally, _ isComplete: Bool) throws -> Void) throws {
        let base = try reader.rows.base(context)
        let bounds = reader.type == .date || reader.isNumber ? try reader.bounds(context) : nil
        var tally = FacetTally(bounds.map { FacetRanges(from: $0.least, to: $0.greatest, reader.type) })
        let clock = ContinuousClock()
        var reported = clock.now
        /// Counts the objects of a query, and returns the last of them; nil if there is none.
        func read(_ query: EntityQuery) throws -> AnyObjectID? {
            let rows = try context.queryAttributes(query, Select(SelectTerm(reader.path, as: "key"), .objectID(as: "id")))
            for row in rows { tally.add(row["key"]) }
            adapt(to: rows)
            if clock.now - reported > Self.pause {
                try report(tally, false)
                reported = clock.now
            }
            if case .objectID(let id)? = rows.last?["id"] { return id }
            return nil
        }
        if reader.rows.selectsAll {
            total = try context.fetchCount(base)
            var last: AnyObjectID?
            repeat {
                let rest = last.map { base.where("objectID > %@", $0) } ?? base
                last = try read(rest.orderBy(ColumnPlan.objectID).limit(part))
            } while last != nil
        } else {
            let ids = try context.fetchObjectIDs(base.orderBy(ColumnPlan.objectID))
            total = ids.count
            var start = 0
            while start < ids.count {
                let end = min(start + part, ids.count)
                _ = try read(EntityQuery(reader.rows.model.name).where("objectID IN %@", Array(ids[start..<end])))
                start = end
            }
        }
        try report(tally, true)
    }

    private func adapt(to rows: [QueryRow]) {
        let bytes = rows.reduce(1) { $0 + ($1["key"].map(ColumnPlan.size) ?? 0) }
        part = max(1, min(part * 4, Self.mostBytes / (bytes / max(rows.count, 1) + 1), Self.mostInPart))
    }
}
