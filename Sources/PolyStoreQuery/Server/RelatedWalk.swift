import PolyStoreBackend

/// A relationship that conditions or expressions follow, with the relationships that they follow from its destinations.
///
/// It holds the objects of a block of rows: the row ids of the sources whose lists are needed, and those of the destinations whose records are needed.
final class RelatedStep {
    let relationship: RelationshipReference
    /// The relationships that are followed from the destinations.
    let next = RelatedLevel()
    /// A Boolean value that indicates whether the records of all destinations are needed.
    private var readsTargets = false
    /// The positions of the members whose records are needed; -1 is the last one.
    private var positions: Set<Int> = []

    /// The sources of a to-many relationship, and the destinations whose records are needed, in the order in which the rows lead to them.
    private(set) var sources = IndexedRowIDs()
    private(set) var targets = IndexedRowIDs()
    /// The lists that were read.
    private(set) var lists: [Int64: [Int64]] = [:]
    /// The targets whose own relationships were added to ``next``.
    private var expanded: Set<Int64> = []
    /// The number of lists to read with one call.
    private(set) var listCount = RelatedStep.firstLists
    /// The largest number of lists to read with one call.
    private var mostLists = 1000

    private static let firstLists = 256
    /// About the largest number of members that are kept, and that are read with one call.
    static let mostMembers = 20_000

    init(_ relationship: RelationshipReference) { self.relationship = relationship }

    /// Adds records that are needed: those of all destinations, or that of the member at a position.
    fileprivate func need(all: Bool, _ position: Int?) {
        readsTargets = readsTargets || all
        if let position { positions.insert(position) }
    }

    // MARK: The objects of a block

    /// Forgets the objects of a block, and those of the steps after it.
    func removeAll() {
        sources = IndexedRowIDs()
        removeTargets()
    }

    private func removeTargets() {
        lists = [:]
        expanded = []
        targets = IndexedRowIDs()
        for step in next.steps { step.removeAll() }
    }

    /// Adds an object that the relationship is followed from.
    func addSource(_ id: Int64, _ record: RecordView) {
        if relationship.isToMany {
            sources.append(id)
        } else if readsTargets, let target = relationship.target(in: record) {
            targets.append(target)
        }
    }

    /// Returns the sources from a given one on whose lists were not read, as many as one call reads.
    func unread(from source: Int64) -> [Int64] { sources.prefix(listCount, from: source) { self.lists[$0] == nil } }

    /// Adds the lists of sources that were read together.
    func add(_ read: [(source: Int64, list: [Int64])]) {
        // Those before them belong to rows that were evaluated.
        if targets.count > Self.mostMembers || lists.count > Self.mostMembers { removeTargets() }
        var members = 0
        for (source, list) in read {
            lists[source] = list
            members += list.count
            if readsTargets {
                for target in list { targets.append(target) }
            } else {
                for position in positions {
                    let index = position < 0 ? list.count + position : position
                    if list.indices.contains(index) { targets.append(list[index]) }
                }
            }
        }
        let fitting = Self.mostMembers * read.count / max(members, 1)
        listCount = max(1, min(listCount * (members == 0 ? 4 : 16), mostLists, fitting))
    }

    /// Called after a read of several lists that failed. The next ones are smaller.
    func didFail(lists: Int) {
        mostLists = max(1, lists / 8)
        listCount = min(listCount, mostLists)
    }

    /// Returns the first targets from a given one on that are needed.
    /// - Parameter isKnown: Whether a record is known.
    func wanted(_ count: Int, from target: Int64, _ isKnown: (Int64) -> Bool) -> [Int64] {
        targets.prefix(count, from: target) { !isKnown($0) || needsExpansion($0) }
    }

    /// A Boolean value that indicates whether the relationships of a target must be added to the next steps.
    func needsExpansion(_ target: Int64) -> Bool { !next.steps.isEmpty && !expanded.contains(target) && targets.contains(target) }

    /// Adds a target to the next steps.
    /// - Parameter record: The record; nil if the object does not exist.
    func expand(_ target: Int64, _ record: RecordView?) {
        expanded.insert(target)
        guard let record else { return }
        for step in next.steps { step.addSource(target, record) }
    }
}

/// Distinct row ids in the order in which they were added.
struct IndexedRowIDs {
    private var rowIDs: [Int64] = []
    private var indices: [Int64: Int] = [:]

    var count: Int { rowIDs.count }

    func contains(_ rowID: Int64) -> Bool { indices[rowID] != nil }

    mutating func append(_ rowID: Int64) {
        guard indices[rowID] == nil else { return }
        indices[rowID] = rowIDs.count
        rowIDs.append(rowID)
    }

    /// Returns the first row ids that satisfy a condition, from a given one on; none if it was not added.
    func prefix(_ count: Int, from rowID: Int64, _ isWanted: (Int64) -> Bool) -> [Int64] {
        guard let first = indices[rowID] else { return [] }
        return Array(rowIDs[first...].lazy.filter(isWanted).prefix(count))
    }
}

/// Relationships that are followed from the same objects.
final class RelatedLevel {
    private(set) var steps: [RelatedStep] = []

    /// Returns the step of a relationship, which is added if it is missing.
    fileprivate func step(_ relationship: RelationshipReference) -> RelatedStep {
        if let known = steps.first(where: { $0.relationship == relationship }) { return known }
        let step = RelatedStep(relationship)
        steps.append(step)
        return step
    }

    /// The steps and all steps after them.
    var all: [RelatedStep] { steps + steps.flatMap(\.next.all) }
}

/// Collects the relationships that predicates and expressions follow.
struct RelatedWalk {
    /// The relationships of the rows.
    let first = RelatedLevel()

    init(_ predicate: QueryPredicate?, _ expressions: [QueryExpression]) {
        if let predicate { add(predicate, [first]) }
        for expression in expressions { add(expression, [first]) }
    }

    /// - Parameter path: The levels of the enclosing objects; the last one is that of the object itself.
    private func add(_ predicate: QueryPredicate, _ path: [RelatedLevel]) {
        switch predicate.node {
        case .constant, .search: break
        case .compare(let left, _, let right), .text(let left, _, let right):
            add(left, path)
            add(right, path)
        case .isNull(let expression), .oneOf(let expression, _): add(expression, path)
        case .related(let relationship, _, let part): follow(relationship, path) { add(part, $0) }
        case .and(let parts), .or(let parts): for part in parts { add(part, path) }
        case .not(let part): add(part, path)
        }
    }

    private func add(_ expression: QueryExpression, _ path: [RelatedLevel]) {
        switch expression.node {
        case .field, .constant, .score: break
        case .related(let relationship, let inner), .aggregate(_, let relationship, let inner):
            follow(relationship, path) { add(inner, $0) }
        case .count(let relationship, .all): follow(relationship, path, readsTargets: false) { _ in }
        case .count(let relationship, let predicate): follow(relationship, path) { add(predicate, $0) }
        case .element(let relationship, let position, let inner):
            follow(relationship, path, readsTargets: false, position: position) { add(inner, $0) }
        case .arithmetic(_, let left, let right):
            add(left, path)
            add(right, path)
        case .folded(let inner, _), .datePart(_, _, let inner), .json(_, let inner): add(inner, path)
        case .function(_, let operands): for operand in operands { add(operand, path) }
        case .conditional(let predicate, let first, let second):
            add(predicate, path)
            add(first, path)
            add(second, path)
        case .outer(let levels, let inner):
            // The value of an enclosing object adds a level, which is that of the object.
            if levels < path.count { add(inner, path + [path[path.count - 1 - levels]]) }
        }
    }

    private func follow(
        _ relationship: RelationshipReference, _ path: [RelatedLevel], readsTargets: Bool = true, position: Int? = nil,
        _ body: ([RelatedLevel]) -> Void
    ) {
        guard let level = path.last else { return }
        let step = level.step(relationship)
        step.need(all: readsTargets, position)
        body(path + [step.next])
    }
}
