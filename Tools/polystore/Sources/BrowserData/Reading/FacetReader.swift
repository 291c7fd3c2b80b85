import Foundation
import PolyStoreBackend
import PolyStoreCore

/// Counts the values of a property.
struct FacetReader: Sendable {
    let store: BrowserStore
    let rows: RowReader
    /// The property, as requests have it.
    let property: String
    /// The property, as conditions have it.
    let path: String
    /// The property, as orders have it.
    private var orderPath: String { PathNames(path)?.order ?? path }
    /// The type of an attribute; nil for a relationship.
    let type: AttributeType?
    /// The entity that a relationship leads to.
    let destination: String?
    let size: Int
    private let isOptional: Bool

    init(_ property: String, _ request: RowsRequest, _ size: Int, _ store: BrowserStore) throws {
        var request = request
        (request.order, request.position, request.columns) = (nil, .first, [ColumnPlan.objectID])
        rows = try RowReader(request, store)
        (self.store, self.property, path) = (store, property, property.asPath)
        self.size = max(1, min(size, 1000))
        switch rows.model.property(property) {
        case .attribute(let attribute)? where attribute.type != .data && attribute.type != .json:
            (type, destination, isOptional) = (attribute.type, nil, attribute.isOptional)
        case .relationship(let relationship)? where !relationship.isToMany:
            (type, destination, isOptional) = (nil, relationship.destination, true)
        default:
            throw StoreError(
                .misuse,
                "\"\(property)\" of \(rows.model.name) has no values to count: choose an attribute other than bytes and JSON, or a relationship to one object.",
                entity: rows.model.name, attribute: property)
        }
    }

    /// Counts, and reports each state.
    func read(_ context: Context, _ report: (Facet) -> Void) throws {
        let clock = ContinuousClock()
        let start = clock.now
        let wantsCost = rows.request.wantsCost
        if let facet = try indexed(context) {
            report(facet)
            return
        }
        let scan = FacetScan(self, context)
        let access = rows.selectsAll ? "scan" : "the objects of the filter, by their ids"
        try scan.run { tally, isComplete in
            var cost = PaneCost(milliseconds: PaneCost.milliseconds(clock.now - start))
            if wantsCost { (cost.rowsExamined, cost.isScan, cost.accesses) = (tally.counted, rows.selectsAll, [access]) }
            report(try facet(tally, isComplete: isComplete, total: scan.total, context, cost))
        }
    }

    /// Whether values are numbers, which are divided into ranges if there are many.
    var isNumber: Bool { type.map { $0.isNumber || $0 == .decimal } ?? false }

    // MARK: By an index

    /// The greatest number of different values that are found one after the other.
    private static let mostListed = 100

    /// Counts by the index of the property.
    /// - Returns: nil if no index has just the objects to count, or if there are too many different values to count each.
    func indexed(_ context: Context) throws -> Facet? {
        guard rows.isWhole, rows.model.isIndexed(property) else { return nil }
        let clock = ContinuousClock()
        let start = clock.now
        func timed(_ all: [Facet.Bucket], _ kind: Facet.Kind) throws -> Facet {
            // The values beyond those that are listed are counted too.
            let buckets = kind == .values ? try named(Array(all.prefix(size)), context) : all
            let time = PaneCost.milliseconds(clock.now - start)
            let query = EntityQuery(rows.model.name).where("\(path) != NULL").orderBy(orderPath).limit(1)
            let plans = rows.request.wantsCost ? try context.plans(query) : nil
            var total = PaneCost(milliseconds: time, plans: plans)
            let counted = all.reduce(0) { $0 + $1.count }
            if plans != nil { total.rowsExamined = counted }
            return Facet(
                property: property, kind: kind, buckets: buckets, counted: counted, total: counted, valueCount: all.count,
                hasTooManyValues: false, isComplete: true, cost: total)
        }
        if type == .date || isNumber, let (least, greatest) = try bounds(context) {
            let values = type == .date ? nil : try listed(context, Self.mostRanged)
            if values == nil {
                let ranges = FacetRanges(from: least, to: greatest, type)
                let buckets = try counts(ranges.buckets(path) + specials, context)
                return try timed(buckets, type == .date ? .periods : .ranges)
            }
        }
        func bucket(_ value: QueryValue?, _ count: Int) -> Facet.Bucket {
            Facet.Bucket(title: title(value), count: count, condition: FacetCondition.of(path, value), reference: reference(value))
        }
        let buckets: [Facet.Bucket]
        if store.isOnServer, type == .string || type == .url {
            guard let groups = try grouped(context) else { return nil }
            buckets = groups.map { bucket($0["key"], Int($0["count"]?.int64 ?? 0)) }.sorted { $0.title < $1.title }
        } else {
            guard let values = try listed(context, Self.mostListed) else { return nil }
            buckets = try counts(values.map { bucket($0, 0) } + (isOptional ? [bucket(nil, 0)] : []), context)
        }
        return try timed(buckets.sorted { $0.count > $1.count }, .values)
    }

    /// The number of objects whose values tell whether there are few.
    private static let sampled = 1_000

    /// Counts the objects of all values together. An index of a server has only the beginnings of texts, so it reads the rows to find and to count the values one by one.
    /// - Returns: nil if there are too many different values.
    private func grouped(_ context: Context) throws -> [QueryRow]? {
        let base = try rows.base(context)
        let key = SelectTerm(path, as: "key")
        let sample = try context.queryAttributes(base.orderBy(ColumnPlan.objectID).limit(Self.sampled), Select(key))
        guard Set(sample.map { title($0["key"]) }).count <= Self.mostListed else { return nil }
        let groups = try context.queryAttributes(
            base.limit(Self.mostListed + 2), Select([key, SelectTerm("count(*)", as: "count")]), groupBy: [path])
        return groups.count > Self.mostListed + 1 ? nil : groups
    }

    /// The greatest number of different numbers that are not divided into ranges.
    static let mostRanged = 20

    /// The buckets of values that ranges leave out.
    private var specials: [Facet.Bucket] {
        var buckets = isOptional ? [Facet.Bucket(title: "–", count: 0, condition: "\(path) == NULL")] : []
        if type == .decimal { buckets.append(Facet.Bucket(title: "NaN", count: 0, condition: FacetCondition.of(path, .decimal(.nan)))) }
        if type == .double || type == .float || type == .date {
            let greatest = FacetCondition.greatest(type)
            buckets.append(Facet.Bucket(title: "NaN, -Infinity", count: 0, condition: "\(path) < \(FacetCondition.least(type))"))
            buckets.append(Facet.Bucket(title: "Infinity", count: 0, condition: "\(path) > \(greatest)"))
        }
        return buckets
    }

    /// Counts the objects of each bucket, and leaves out those without any.
    private func counts(_ buckets: [Facet.Bucket], _ context: Context) throws -> [Facet.Bucket] {
        try buckets.compactMap { bucket in
            let base = try rows.base(context)
            let query =
                try bucket.reference.map { base.where("\(path) == %@", try store.stack.objectID($0.entity, rowID: $0.rowID)) }
                ?? base.where(bucket.condition)
            let count = try context.fetchCount(query)
            return count == 0
                ? nil : Facet.Bucket(title: bucket.title, count: count, condition: bucket.condition, reference: bucket.reference)
        }
    }

    /// Returns the different values in order, each found by its index from the one before; nil if there are more than a number of them.
    private func listed(_ context: Context, _ most: Int) throws -> [QueryValue]? {
        var values: [QueryValue] = []
        while true {
            let base = EntityQuery(rows.model.name)
            let rest = values.last.map { base.where("\(path) > %@", $0) } ?? base.where("\(path) != NULL")
            let row = try context.queryAttributes(rest.orderBy(orderPath).limit(1), Select(SelectTerm(path, as: "key"))).first
            guard let value = row?["key"] else { return values }
            if values.count == most { return nil }
            values.append(value)
        }
    }

    /// Returns the least and the greatest finite value; nil if there is none.
    func bounds(_ context: Context) throws -> (least: Double, greatest: Double)? {
        let finite = try rows.base(context).where(FacetCondition.finite(path, type))
        if rows.isWhole, rows.model.isIndexed(property) {
            func first(_ isAscending: Bool) throws -> Double? {
                // Both parts of the order have the direction in which an index is read.
                let ordered = finite.orderBy(orderPath, ascending: isAscending)
                let whole = isAscending || store.sortsIDsBackwards ? ordered : ordered.orderBy(ColumnPlan.objectID, ascending: false)
                let query = whole.limit(1)
                return BrowserValue(try context.queryAttributes(query, Select(SelectTerm(path, as: "key"))).first?["key"]).number
            }
            guard let least = try first(true), let greatest = try first(false) else { return nil }
            return (least, greatest)
        }
        let terms = [SelectTerm("min(\(path))", as: "least"), SelectTerm("max(\(path))", as: "greatest")]
        let row = try context.queryAttributes(finite, Select(terms)).first
        guard let least = BrowserValue(row?["least"]).number, let greatest = BrowserValue(row?["greatest"]).number else { return nil }
        return (least, greatest)
    }

    // MARK: Buckets

    private func title(_ value: QueryValue?) -> String {
        let text = BrowserValue(value, type).text
        if FacetCondition.isAbout(value) { return "about \(text.prefix(BrowserValue.longest - 6))" }
        return text.isEmpty ? "(empty)" : text
    }

    private func reference(_ value: QueryValue?) -> ObjectReference? {
        guard case .objectID(let id)? = value else { return nil }
        return ObjectReference(entity: id.entityName, rowID: id.rowID)
    }

    /// Returns buckets with the display names of related objects.
    private func named(_ buckets: [Facet.Bucket], _ context: Context) throws -> [Facet.Bucket] {
        guard let destination else { return buckets }
        let ids = try buckets.compactMap { bucket in try bucket.reference.map { try store.stack.objectID(destination, rowID: $0.rowID) } }
        let names = Dictionary(
            try store.relatedObjects(ids, context).map { ($0.reference.rowID, $0) }, uniquingKeysWith: { first, _ in first })
        return buckets.map { bucket in
            guard let named = bucket.reference.flatMap({ names[$0.rowID] }) else { return bucket }
            return Facet.Bucket(
                title: named.name, count: bucket.count, condition: condition(of: named.name), reference: named.reference,
                link: RowsRequest.Link(object: named.reference, relationship: property, incomingFrom: rows.model.name))
        }
    }

    /// Returns the condition that the related object has a name; empty if another one can have it.
    private func condition(of name: String) -> String {
        guard let destination, let model = try? store.model(destination), let label = model.label,
            model.attribute(label)?.isUnique ?? false,
            model.root.hierarchy == nil, !name.hasPrefix("\(destination) "), name.count < BrowserValue.longest,
            !FacetCondition.isAbout(.text(name))
        else { return "" }
        return FacetCondition.of("\(path).\(label.asPath)", .text(name))
    }

    /// Returns the facet of what a scan has counted.
    private func facet(_ tally: FacetTally, isComplete: Bool, total: Int?, _ context: Context, _ cost: PaneCost) throws -> Facet {
        let usesRanges = tally.ranges != nil && (type == .date || tally.values.count > Self.mostRanged || tally.hasTooManyValues)
        var buckets: [Facet.Bucket] = []
        if usesRanges, let ranges = tally.ranges {
            buckets = zip(ranges.buckets(path), tally.rangeCounts).map {
                Facet.Bucket(title: $0.title, count: $1, condition: $0.condition)
            }
            let rest = specials.map(\.condition)
            for (special, count) in zip(specials, tally.specialCounts(rest.count, isOptional: isOptional)) {
                buckets.append(Facet.Bucket(title: special.title, count: count, condition: special.condition))
            }
            buckets.removeAll { $0.count == 0 }
        } else {
            let counts: [(value: QueryValue?, count: Int)] = tally.values.map { ($0.key.value, $0.value) }
            let most = counts + (tally.nulls > 0 ? [(nil, tally.nulls)] : [])
            let sorted = most.sorted { left, right in
                left.count == right.count ? title(left.value) < title(right.value) : left.count > right.count
            }
            buckets = sorted.prefix(size).map { value, count in
                Facet.Bucket(title: title(value), count: count, condition: FacetCondition.of(path, value), reference: reference(value))
            }
            buckets = try named(buckets, context)
        }
        return Facet(
            property: property, kind: usesRanges ? type == .date ? .periods : .ranges : .values, buckets: buckets, counted: tally.counted,
            total: total, valueCount: usesRanges ? buckets.count : tally.values.count + (tally.nulls > 0 ? 1 : 0),
            hasTooManyValues: !usesRanges && tally.hasTooManyValues, isComplete: isComplete, cost: cost)
    }
}
