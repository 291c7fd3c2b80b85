import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

/// Finds the index of a request that reads the fewest rows.
struct IndexAdviser {
    private let request: FetchRequest
    private let reader: any ReadTransaction
    /// The conditions that an index finds by one value, or by several, of a field.
    private var equalities: [Part] = []
    /// The conditions that an index finds between two bounds.
    private var ranges: [Part] = []

    /// The conditions on one field.
    private struct Part {
        let field: Field
        var condition: QueryPredicate
        /// A Boolean value that indicates whether the field has one value in all rows that satisfy the conditions, so that an index has the rows in the order of its next fields.
        var isSingle: Bool
        /// The number of conditions of the fetch.
        var count = 1
    }

    /// An index and the part of the condition that it serves.
    private struct Candidate {
        let fields: [Field]
        let rows: Int
        let isEstimated: Bool
    }

    init(_ request: FetchRequest, _ reader: any ReadTransaction) {
        self.request = request
        self.reader = reader
        for condition in request.predicate.conjuncts {
            switch condition.fieldCondition {
            case .compare(let field, .equal, _)?, .isNull(let field)?: add(condition, field, isSingle: true, to: &equalities)
            case .oneOf(let field, _)?: add(condition, field, to: &equalities)
            case .compare(let field, let comparison, _)? where comparison != .notEqual: add(condition, field, to: &ranges)
            case .text(let field, .beginsWith, _)?: add(condition, field, to: &ranges)
            default: break
            }
        }
    }

    private func add(_ condition: QueryPredicate, _ reference: FieldReference, isSingle: Bool = false, to list: inout [Part]) {
        guard !reference.isObjectID, request.entity.fields.indices.contains(reference.index) else { return }
        let field = request.entity.fields[reference.index]
        // No class declares the other fields.
        guard !field.isHidden, field.index != request.entity.classifierField else { return }
        guard let same = list.firstIndex(where: { $0.field.index == field.index }) else {
            return list.append(Part(field: field, condition: condition, isSingle: isSingle))
        }
        list[same].condition = .and([list[same].condition, condition])
        list[same].isSingle = list[same].isSingle || isSingle
        list[same].count += 1
    }

    /// Returns the advice for the entity of the request, and for those that its condition reads completely to find related objects.
    func advice() throws -> [IndexAdvice] {
        let plan = try reader.explained(request)
        let own = try advice(plan).map { [$0] } ?? []
        guard let related = plan.relatedRowsExamined, related > 0 else { return own }
        return try own
            + request.predicate.conjuncts.flatMap { condition -> [IndexAdvice] in
                guard case .related(let relationship, _, let inner) = condition.node else { return [] }
                let targets = FetchRequest(relationship.destination, predicate: inner)
                // The store may have found the related objects in another way, from the rows of the request.
                return try IndexAdviser(targets, reader).advice().filter { $0.rowsNow <= related }
            }
    }

    /// Returns the advice for a plan, unless an existing index is as good.
    private func advice(_ plan: QueryPlan) throws -> IndexAdvice? {
        guard let now = plan.rowsExamined, now > 0 else { return nil }
        let candidates = try self.candidates().filter { $0.rows < now }
        guard let best = candidates.min(by: { ($0.rows, $0.fields.count) < ($1.rows, $1.fields.count) }), !exists(best.fields) else {
            return nil
        }
        return IndexAdvice(
            entity: request.entity.name, index: IndexDescription(fields: best.fields.map(\.name)), plan: plan, rowsNow: now,
            rowsWithIndex: best.rows, isEstimated: best.isEstimated)
    }

    private func exists(_ fields: [Field]) -> Bool {
        request.entity.indexes.contains { $0.parts.prefix(fields.count).map(\.field) == fields.map(\.index) && !$0.readsJSON }
    }

    private func candidates() throws -> [Candidate] {
        var found: [Candidate] = []
        // The most selective fields first, so that the fewest fields suffice.
        let ordered = try equalities.map { (part: $0, rows: try count([$0.condition])) }.sorted { $0.rows < $1.rows }.map(\.part)
        for length in 0...ordered.count {
            let prefix = ordered.prefix(length)
            let conditions = prefix.map(\.condition)
            let fields = prefix.map(\.field)
            if length > 0 { found.append(Candidate(fields: fields, rows: try count(conditions), isEstimated: false)) }
            for range in ranges where !fields.contains(range.field) {
                found.append(Candidate(fields: fields + [range.field], rows: try count(conditions + [range.condition]), isEstimated: false))
            }
        }
        let single = ordered.filter(\.isSingle)
        for length in 0...single.count { if let sorted = try sorted(Array(single.prefix(length))) { found.append(sorted) } }
        return found
    }

    /// Returns the index that reads the rows of a fetch with a limit in their order.
    /// - Parameter parts: The conditions that find the rows by one value of each field.
    private func sorted(_ parts: [Part]) throws -> Candidate? {
        let fields = parts.map(\.field)
        guard let limit = request.limit, let keys = sortFields(), !keys.contains(where: { fields.contains($0) }) else { return nil }
        let (sum, isTooLarge) = limit.magnitude.addingReportingOverflow(request.offset.magnitude)
        let wanted = isTooLarge ? Int.max : Int(clamping: sum)
        // An index reads the rows between two bounds of the first sort key in order too.
        let served = parts + ranges.filter { $0.field.index == keys.first?.index }
        let rows = try count(served.map(\.condition))
        let isWhole = served.reduce(0) { $0 + $1.count } == request.predicate.conjuncts.count
        if isWhole { return Candidate(fields: fields + keys, rows: min(rows, wanted), isEstimated: false) }
        // As many rows are read as are needed to find enough that satisfy the other conditions.
        let matching = try count([request.predicate])
        guard matching > wanted else { return Candidate(fields: fields + keys, rows: rows, isEstimated: false) }
        let share = Double(rows) * Double(wanted) / Double(matching)
        return Candidate(fields: fields + keys, rows: min(rows, Int(share.rounded(.up))), isEstimated: true)
    }

    /// The fields of the order; nil if an index cannot have the order.
    private func sortFields() -> [Field]? {
        guard let first = request.sortKeys.first else { return nil }
        var fields: [Field] = []
        for key in request.sortKeys {
            guard key.expression == nil, key.nulls == .smallest, key.ascending == first.ascending, !key.field.isObjectID,
                request.entity.fields.indices.contains(key.field.index), !request.entity.fields[key.field.index].isHidden,
                key.field.index != request.entity.classifierField
            else { return nil }
            fields.append(request.entity.fields[key.field.index])
        }
        return Set(fields.map(\.index)).count == fields.count ? fields : nil
    }

    private func count(_ conditions: [QueryPredicate]) throws -> Int {
        try reader.count(FetchRequest(request.entity, predicate: .and(conditions)))
    }
}
