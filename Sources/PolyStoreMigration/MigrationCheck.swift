import PolyStoreBackend
import PolyStoreKernel

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

    /// The matches whose objects a closure migrates.
    private var transformed: [EntityMatch] { plan.routes.filter { $0.transform != nil }.flatMap(\.matches) }

    /// Finds the problems that prevent the migration.
    mutating func checkRefusals() throws {
        for match in copied {
            try checkMissing(match)
            try checkNulls(match)
            try checkMisfits(match, isReplaced: false)
            try checkNullsOfClasses(match)
            try checkUniqueness(match)
            for relationship in match.target.relationships {
                guard let origin = plan.origins.origin(relationship, of: match.source.index) else { continue }
                try checkAmbiguity(match, origin, isChosen: false)
                // A closure may provide the targets. They are validated at the end.
                if plan.writesAnyObject { continue }
                try checkRequired(match, origin)
                try checkCounts(match, origin)
            }
        }
    }

    /// Finds the objects and values that the new version cannot represent.
    mutating func checkLosses() throws {
        for entity in plan.removed {
            report(.lost, entity.name, nil, try rows(entity, .all), "The objects of \(entity.name) are removed.")
        }
        // The closures choose what they copy, but not whether an object has several candidates.
        for match in plan.losesLinks ? transformed : [] {
            for relationship in match.target.relationships {
                guard let origin = plan.origins.origin(relationship, of: match.source.index) else { continue }
                try checkAmbiguity(match, origin, isChosen: true)
            }
        }
        for match in plan.routes.filter(\.skipsRemovedClasses).flatMap(\.matches) { try checkRemovedClasses(match) }
        for match in copied {
            try checkRemovedClasses(match)
            for name in match.removed { try checkRemoved(name, match) }
            try checkMovedAttributes(match)
            try checkMisfits(match, isReplaced: true)
            for relationship in match.target.relationships {
                guard let origin = plan.origins.origin(relationship, of: match.source.index) else { continue }
                try checkExcluded(match, origin)
                try checkOrder(match, origin)
            }
        }
    }

    // MARK: Refused data

    private mutating func checkMissing(_ match: EntityMatch) throws {
        for (part, field) in zip(match.fields, match.target.fields) where part == .missing {
            report(
                .refused, match.target.name, field.name, try rows(match.source, .all),
                "\(match.target.name).\(field.name) is added, must have a value and has no default\(Self.evaluation(field)). Give it a default, make it optional, or compute it in a schema "
                    + "mapping.")
        }
    }

    /// Distinguishes a default expression that only a missing class can evaluate from no default.
    private static func evaluation(_ field: Field) -> String {
        field.defaultExpression == nil ? "" : " that can be evaluated without the class"
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

    /// Finds the values that a narrower type of a downgrade cannot represent.
    /// - Parameter isReplaced: Whether to find those that are rounded or replaced, instead of those without a replacement.
    private mutating func checkMisfits(_ match: EntityMatch, isReplaced: Bool) throws {
        for (part, field) in zip(match.fields, match.target.fields) {
            guard case .fitting(let index, _, let misfit) = part else { continue }
            let (entity, old) = (match.source, match.source.fields[index])
            let found = try rows(entity, .not(.isNull(FieldReference(old)))) { [source] ids in
                try ids.filter { id in
                    guard let record = try source.record(entity, rowID: id) else { return false }
                    let fitting = ValueConversion.fitting(record.value(old), from: old.type, to: field.type)
                    return isReplaced ? fitting.map { !$0.isExact } ?? (misfit != nil) : fitting == nil && misfit == nil
                }
            }
            let what =
                "\(match.target.name).\(field.name) changes from \(old.type.rawValue) to \(field.type.rawValue), and values do not fit."
            if isReplaced {
                let replacement = misfit.map { $0.isNull ? ", others are removed" : ", others are replaced by the default" } ?? ""
                report(.lost, entity.name, old.name, found, what + " Fractions of floating-point numbers are rounded\(replacement).")
            } else {
                report(
                    .refused, match.target.name, field.name, found,
                    what + " The attribute must have a value and has no default. Change the values in the later version.")
            }
        }
    }

    /// Checks the required attributes of subentities, which are optional in the combined entity.
    private mutating func checkNullsOfClasses(_ match: EntityMatch) throws {
        for (name, newName) in match.classNames.sorted(by: { $0.key < $1.key }) {
            guard let new = match.target.classes.first(where: { $0.name == newName }), !new.isRoot,
                let old = match.source.classes.first(where: { $0.name == name })
            else { continue }
            for index in new.required where match.target.fields[index].isOptional {
                let field = match.target.fields[index]
                var found = classes([name], match.source)
                switch match.fields[index] {
                case .field(let source, _), .fieldOfClasses(let source, _, _):
                    if old.required.contains(source) || !match.source.fields[source].isOptional { continue }
                    found = .and([found, .isNull(FieldReference(match.source.fields[source]))])
                case .constant(let value): if !value.isNull { continue }
                case .computed, .fieldOrComputed, .fitting, .constantOfClasses, .classes, .link, .position, .missing: continue
                }
                report(
                    .refused, match.target.name, field.name, try rows(match.source, found),
                    "\(newName).\(field.name) must have a value and has no default\(Self.evaluation(field)), and objects have no value. Give the attribute a default, make it optional, or compute it in "
                        + "a schema mapping.")
            }
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
                case .computed, .fieldOrComputed, .fitting, .constantOfClasses, .fieldOfClasses, .classes, .link, .position, .missing:
                    isComparable = false
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

    // MARK: Relationships

    private var reader: LinkReader { LinkReader(origins: plan.origins, schema: plan.source, source: source) }

    /// Finds the objects with several candidates for a to-one relationship: those with several targets or owners in the old version, and those whose ends
    /// disagree.
    /// - Parameter isChosen: Whether a closure migrates the objects, which can choose the target.
    private mutating func checkAmbiguity(_ match: EntityMatch, _ origin: LinkOrigin, isChosen: Bool) throws {
        let relationship = origin.relationship
        guard !relationship.isToMany, !origin.isSingle(plan.source) else { return }
        let reader = reader
        var examples: [String] = []
        let found = try rows(match.source, .all) { ids in
            let candidates = try reader.candidates(origin, ids)
            return ids.filter { id in
                guard let targets = candidates[id], targets.count > 1 else { return false }
                if examples.count < 3 {
                    let names = targets.prefix(3).map { "\(plan.source.entities[$0.entity].name) \($0.rowID)" }.joined(separator: ", ")
                    examples.append("\(match.source.name) \(id) with \(names)\(targets.count > 3 ? ", …" : "")")
                }
                return true
            }
        }
        let what =
            "\(match.target.name).\(relationship.name) leads to one object, and the old version relates objects to several: \(examples.joined(separator: "; "))."
        if plan.losesLinks {
            report(
                .lost, match.source.name, origin.own?.name ?? relationship.name, found,
                what
                    + (isChosen ? " The closure of the mapping chooses the target; otherwise the" : " The")
                    + " first target of the object's own relationship remains, or else the object with the lowest row id that leads to it, and only if the other end chooses the same "
                    + "pair. The others are dropped.", isPermitted: true)
        } else {
            report(
                .refused, match.target.name, relationship.name, found,
                what
                    + " Change the objects in the old version, choose the object in a schema mapping, or allow lost links in the policy of the migration."
            )
        }
    }

    /// Names the closures that can provide the targets of a relationship. An update cannot, because it receives only the copy.
    private static func closures(_ match: EntityMatch) -> String {
        "in a transform of \(match.source.name) or of another entity, or in its closure `after`."
    }

    /// Finds the objects that have no target of a required to-one relationship.
    private mutating func checkRequired(_ match: EntityMatch, _ origin: LinkOrigin) throws {
        let relationship = origin.relationship
        guard relationship.isRequired, !relationship.isToMany else { return }
        let owners = match.classes(having: relationship.index)
        let found: Rows
        if origin.parts.isEmpty {
            found = try rows(match.source, classes(owners, match.source))
        } else if plan.origins.isCopied(origin), let own = origin.own, case .foreignKey(let field) = own.storage {
            if own.isRequired, owners.isSubset(of: match.source.classes(with: own.index)) { return }
            let isNull = QueryPredicate.isNull(FieldReference(match.source.fields[field]))
            found = try rows(match.source, .and([isNull, classes(owners, match.source)]))
        } else {
            let reader = reader
            found = try rows(match.source, classes(owners, match.source)) { ids in
                let targets = try reader.targets(origin, ids)
                return ids.filter { targets[$0]?.isEmpty ?? true }
            }
        }
        report(
            .refused, match.target.name, relationship.name, found,
            "\(match.target.name).\(relationship.name) \(origin.own?.isRequired ?? false ? "is" : "becomes") required, and objects lead to no object. Make the relationship optional, assign "
                + "targets in the old version, or set them in a schema mapping: \(Self.closures(match))")
    }

    /// Finds the objects that have more or fewer targets of a to-many relationship than are allowed.
    private mutating func checkCounts(_ match: EntityMatch, _ origin: LinkOrigin) throws {
        let relationship = origin.relationship
        guard relationship.isToMany, relationship.minCount > 0 || relationship.maxCount != nil else { return }
        let owners = match.classes(having: relationship.index)
        let found: Rows
        if origin.parts.isEmpty {
            // A new relationship has no targets.
            guard relationship.minCount > 0 else { return }
            found = try rows(match.source, classes(owners, match.source))
        } else {
            if origin.parts.count == 1, let own = origin.own, own.isToMany, relationship.minCount <= own.minCount,
                relationship.maxCount ?? .max >= own.maxCount ?? .max, origin.keepsAll,
                origin.farRemoved.isEmpty, owners.isSubset(of: match.source.classes(with: own.index)),
                plan.origins.inverse(relationship)?.isToMany ?? true
                    || plan.origins.inverseOrigin(relationship, of: own.destination)?.isSingle(plan.source) ?? true
            {
                return
            }
            let reader = reader
            found = try rows(match.source, classes(owners, match.source)) { ids in
                let targets = try reader.targets(origin, ids)
                return ids.filter { !relationship.allows(targets[$0]?.count ?? 0) }
            }
        }
        report(
            .refused, match.target.name, relationship.name, found,
            "\(match.target.name).\(relationship.name) must lead to \(relationship.allowedCounts) objects, and does not. Change the objects in the old version or in a "
                + "schema mapping: \(Self.closures(match))")
    }

    /// Returns the predicate for the objects of some classes.
    private func classes(_ names: Set<String>, _ entity: Entity) -> QueryPredicate {
        guard let classifier = entity.classifierField else { return .constant(names.contains(entity.name)) }
        if entity.classes.allSatisfy({ $0.isAbstract || names.contains($0.name) }) { return .all }
        return .oneOf(FieldReference(entity.fields[classifier]), names.sorted().map { .text($0) })
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
        if let relationship = match.source.relationship(named: name) {
            // Targets that the other end keeps are not lost.
            if plan.origins.isUsed(relationship) { return }
            if case .foreignKey(let field) = relationship.storage {
                found = try rows(match.source, .not(.isNull(FieldReference(match.source.fields[field]))))
            } else {
                found = try rows(match.source, .all) { [source] ids in
                    let related = try source.related(relationship, of: ids)
                    return ids.filter { !related[$0].isEmpty }
                }
            }
        } else if let field = match.source.field(named: name) {
            found = try rows(match.source, .not(.isNull(FieldReference(field))))
        } else {
            return
        }
        report(.lost, match.source.name, name, found, "The values of \(match.source.name).\(name) are removed.")
    }

    /// Finds the values of attributes that the classes of their objects no longer have.
    private mutating func checkMovedAttributes(_ match: EntityMatch) throws {
        for (field, excluded) in match.excluded.sorted(by: { $0.key < $1.key }) {
            let old: Int
            switch match.fields[field] {
            case .fieldOfClasses(let index, _, _), .fieldOrComputed(let index, _): old = index
            default: continue
            }
            let before = match.source.fields[old]
            report(
                .lost, match.source.name, before.name,
                try rows(match.source, .and([.not(.isNull(FieldReference(before))), classes(excluded, match.source)])),
                "The values of \(match.source.name).\(before.name) in objects of \(excluded.sorted().joined(separator: ", ")) are removed: their entity does not have the property "
                    + "in the new version.")
        }
    }

    /// Finds the targets of relationships that the classes of their objects, or of the targets, no longer have.
    private mutating func checkExcluded(_ match: EntityMatch, _ origin: LinkOrigin) throws {
        guard !origin.keepsAll else { return }
        let reader = reader
        let found = try rows(match.source, .all) { ids in
            let (all, kept) = (try reader.candidates(origin, ids, includesExcluded: true), try reader.candidates(origin, ids))
            return ids.filter { all[$0]?.count ?? 0 > kept[$0]?.count ?? 0 }
        }
        let name = origin.own?.name ?? origin.relationship.name
        report(
            .lost, match.source.name, name, found,
            "Targets of \(match.source.name).\(name) are removed: the entity of the object or of the target does not have the relationship in the new version."
        )
    }

    /// Finds the objects whose ordered relationship becomes unordered.
    private mutating func checkOrder(_ match: EntityMatch, _ origin: LinkOrigin) throws {
        guard let own = origin.own, own.isOrdered, origin.relationship.isToMany, !origin.relationship.isOrdered else { return }
        let found = try rows(match.source, .all) { [source] ids in
            let related = try source.related(own, of: ids)
            return ids.filter { related[$0].count > 1 }
        }
        report(.lost, match.source.name, own.name, found, "The order of \(match.source.name).\(own.name) is removed.")
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
        _ kind: MigrationReport.Finding.Kind, _ entity: String, _ property: String?, _ rows: Rows, _ message: String,
        isPermitted: Bool = false
    ) {
        guard rows.count > 0 else { return }
        findings.append(.init(kind, entity, property, message, count: rows.count, rowIDs: rows.first, isPermitted: isPermitted))
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

    /// Returns the objects that satisfy a predicate and a condition, which receives row ids in batches.
    private func rows(_ entity: Entity, _ predicate: QueryPredicate, where condition: ([Int64]) throws -> [Int64]) throws -> Rows {
        var rows = Rows()
        var last: Int64?
        while true {
            var request = FetchRequest(entity, predicate: predicate, limit: Self.batchSize)
            request.onlyIDs = true
            if let last { request.predicate = .and([predicate, .compare(.objectID, .greater, .integer(last))]) }
            let cursor = try source.fetch(request)
            var ids: [Int64] = []
            do {
                defer { cursor.close() }
                while try cursor.next() { ids.append(cursor.rowID) }
            }
            last = ids.last
            if last == nil { return rows }
            let found = try condition(ids)
            rows.count += found.count
            rows.first += found.prefix(max(0, Self.listed - rows.first.count))
        }
    }
}
