import PolyStoreBackend

/// Checks the old store for data that the new version loses or refuses, before anything changes.
struct MigrationCheck {
    private let plan: MigrationPlan
    private let source: any ReadTransaction
    private(set) var findings: [MigrationReport.Finding] = []

    /// The maximum number of row ids in a finding.
    private static let listed = 20
    private static let batchSize = 2_000

    init(_ plan: MigrationPlan, _ source: any ReadTransaction) {
        self.plan = plan
        self.source = source
        findings = plan.problems
    }

    /// The matches whose records are copied without a closure.
    private var copied: [EntityMatch] { plan.carried + plan.routes.filter { $0.transform == nil }.flatMap(\.matches) }

    /// Finds the problems that prevent the migration.
    mutating func checkRefusals() throws {
        for match in copied {
            try checkMissing(match)
            try checkNulls(match)
            try checkUniqueness(match)
        }
        for match in plan.carried { try checkCounts(match) }
    }

    /// Finds the objects and values that the new version cannot represent.
    mutating func checkLosses() throws {
        for entity in plan.removed {
            report(.lost, entity.name, nil, try rows(entity, .all), "The objects of \(entity.name) are removed.")
        }
        for match in copied {
            try checkRemovedClasses(match)
            for name in match.removed { try checkRemoved(name, match) }
        }
    }

    // MARK: Refused data

    private mutating func checkMissing(_ match: EntityMatch) throws {
        for (part, field) in zip(match.fields, match.target.fields) where part == .missing {
            report(
                .refused, match.target.name, field.name, try rows(match.source, .all),
                "\(match.target.name).\(field.name) is added, must have a value and has no default. Give it a default, make it optional, or compute it in a schema "
                    + "mapping.")
        }
    }

    private mutating func checkNulls(_ match: EntityMatch) throws {
        for required in match.requiredFields {
            report(
                .refused, match.target.name, required.name,
                try rows(match.source, .isNull(FieldReference(match.source.fields[required.field]))),
                "\(match.target.name).\(required.name) becomes required, and objects have no value. Give the attribute a default, assign values in the old version, or "
                    + "compute them in a schema mapping.")
        }
    }

    private mutating func checkUniqueness(_ match: EntityMatch) throws {
        for index in match.target.indexes where index.isUnique {
            var fields: [Field] = []
            var isComparable = true
            for field in index.fields {
                switch match.fields[field] {
                case .field(let old, let replacement):
                    fields.append(match.source.fields[old])
                    if !replacement.isNull, match.source.fields[old].isOptional { isComparable = false }
                case .constant(let value): if value.isNull { isComparable = false }
                case .computed, .fieldOrComputed, .constantOfClasses, .classes, .missing: isComparable = false
                }
            }
            // Values that cannot be compared in the old store are checked when the new store is written.
            guard isComparable, !match.source.indexes.contains(where: { $0.isUnique && Set($0.fields) == Set(fields.map(\.index)) })
            else {
                continue
            }
            let names = index.fields.map { match.target.fields[$0].name }.joined(separator: ", ")
            report(
                .duplicate, match.target.name, names, try duplicates(match.source, fields),
                "\(match.target.name).\(names) becomes unique, and objects share values. Change or delete them in the old version, or merge them in a schema mapping."
            )
        }
    }

    /// Returns the objects whose values also occur in an object with a lower row id.
    private func duplicates(_ entity: Entity, _ fields: [Field]) throws -> Rows {
        var mask = FieldMask()
        for field in fields { mask.insert(field.index) }
        var request = FetchRequest(entity, sortKeys: fields.map { SortKey(FieldReference($0)) })
        request.fields = mask
        let cursor = try source.fetch(request)
        defer { cursor.close() }
        var last: [Value]?
        var count = 0
        var ids: [Int64] = []
        while try cursor.next() {
            let values = fields.map { cursor.record.value($0) }
            defer { last = values }
            guard let last, last == values, !values.contains(where: \.isNull) else { continue }
            count += 1
            ids.append(cursor.rowID)
            if ids.count > 4 * Self.listed { ids = Array(ids.sorted().prefix(Self.listed)) }
        }
        return Rows(count: count, first: Array(ids.sorted().prefix(Self.listed)))
    }

    /// Checks relationships that permit fewer targets than before.
    private mutating func checkCounts(_ match: EntityMatch) throws {
        for relationship in match.target.relationships where relationship.isToMany {
            guard relationship.minCount > 0 || relationship.maxCount != nil else { continue }
            let found: Rows
            if let relationshipIndex = match.relationships[relationship.index] {
                let old = match.source.relationships[relationshipIndex]
                guard old.isToMany, relationship.minCount > old.minCount || relationship.maxCount ?? .max < old.maxCount ?? .max else {
                    continue
                }
                found = try rows(match.source, old) { !relationship.allows($0) }
            } else {
                // A new relationship has no targets.
                guard relationship.minCount > 0 else { continue }
                found = try rows(match.source, .all)
            }
            report(
                .refused, match.target.name, relationship.name, found,
                "\(match.target.name).\(relationship.name) must lead to \(relationship.allowedCounts) objects, and does not. Change the objects in the old version or in a "
                    + "schema mapping.")
        }
    }

    // MARK: Losses

    private mutating func checkRemovedClasses(_ match: EntityMatch) throws {
        guard let classifier = match.source.classifierField else { return }
        for name in match.removedClasses {
            let ofClass = QueryPredicate.compare(FieldReference(match.source.fields[classifier]), .equal, .text(name))
            report(.lost, name, nil, try rows(match.source, ofClass), "The objects of \(name) are removed.")
        }
    }

    private mutating func checkRemoved(_ name: String, _ match: EntityMatch) throws {
        let found: Rows
        if let field = match.source.field(named: name) {
            found = try rows(match.source, .not(.isNull(FieldReference(field))))
        } else if let relationship = match.source.relationship(named: name), case .link = relationship.storage {
            found = try rows(match.source, relationship) { $0 > 0 }
        } else {
            // Data that the other end keeps is not lost.
            return
        }
        report(.lost, match.source.name, name, found, "The values of \(match.source.name).\(name) are removed.")
    }

    // MARK: Reading

    /// The objects that a finding concerns.
    private struct Rows {
        var count = 0
        /// The first row ids, at most ``MigrationCheck/listed``.
        var first: [Int64] = []
    }

    /// Adds a finding if it concerns any object.
    private mutating func report(
        _ kind: MigrationReport.Finding.Kind, _ entity: String, _ property: String?, _ rows: Rows, _ message: String
    ) {
        if rows.count > 0 { findings.append(.init(kind, entity, property, message, count: rows.count, rowIDs: rows.first)) }
    }

    /// Returns the objects that satisfy a predicate.
    private func rows(_ entity: Entity, _ predicate: QueryPredicate) throws -> Rows {
        var request = FetchRequest(entity, predicate: predicate)
        var rows = Rows(count: try source.count(request))
        guard rows.count > 0 else { return rows }
        request.limit = Self.listed
        request.onlyIDs = true
        let cursor = try source.fetch(request)
        defer { cursor.close() }
        while try cursor.next() { rows.first.append(cursor.rowID) }
        return rows
    }

    /// Returns the objects whose number of targets satisfies a condition.
    private func rows(_ entity: Entity, _ relationship: Relationship, where condition: (Int) -> Bool) throws -> Rows {
        var rows = Rows()
        try forEachBatch(of: entity) { ids in
            let related = try source.related(relationship, of: ids)
            for id in ids where condition(related[id].count) {
                rows.count += 1
                if rows.first.count < Self.listed { rows.first.append(id) }
            }
        }
        return rows
    }

    private func forEachBatch(of entity: Entity, _ body: ([Int64]) throws -> Void) throws {
        var request = FetchRequest(entity)
        request.onlyIDs = true
        let cursor = try source.fetch(request)
        defer { cursor.close() }
        var ids: [Int64] = []
        while try cursor.next() {
            ids.append(cursor.rowID)
            guard ids.count == Self.batchSize else { continue }
            try body(ids)
            ids = []
        }
        if !ids.isEmpty { try body(ids) }
    }
}
