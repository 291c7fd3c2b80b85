import PolyStoreBackend

/// The naive model of an object graph: dictionaries of objects and, for each relationship and in both directions, of the row ids it leads to.
struct GraphState: Sendable {
    struct Object: Equatable, Sendable {
        let kind: GraphKind
        var numbers: [Int]
    }

    /// One relationship of one object.
    struct End: Hashable, Sendable {
        let owner: GraphKey
        let relationship: GraphRelationship
    }

    /// An assignment that was refused. It fails the commit.
    struct Refusal: Equatable, Sendable {
        let end: End
        let code: StoreError.Code
    }

    private(set) var objects: [GraphKey: Object] = [:]
    private(set) var links: [End: [GraphKey]] = [:]
    /// The objects that the transaction has deleted.
    private(set) var deleted: [GraphKey: GraphKind] = [:]
    private(set) var refusals: [Refusal] = []
    /// The relationships with the rule deny of deleted objects.
    private(set) var denials: Set<End> = []
    /// The assigned attributes and to-one relationships of objects, by object. Objects in this dictionary keep their values when the transaction moves to
    /// a newer version.
    private(set) var edits: [GraphKey: Set<Int>] = [:]

    /// The number that ``edits`` contains for to-one relationships.
    private static let toOne = 100

    func members(_ owner: GraphKey, _ relationship: GraphRelationship) -> [GraphKey] {
        links[End(owner: owner, relationship: relationship)] ?? []
    }

    func kind(_ key: GraphKey) -> GraphKind? { objects[key]?.kind ?? deleted[key] }

    /// The same objects without what a transaction has noted about its changes.
    var flattened: GraphState {
        var state = self
        (state.deleted, state.refusals, state.denials, state.edits) = ([:], [], [], [:])
        return state
    }

    // MARK: Changes

    mutating func create(_ key: GraphKey, _ kind: GraphKind, _ numbers: [Int]) {
        objects[key] = Object(kind: kind, numbers: numbers)
        edits[key] = []
    }

    mutating func setNumber(_ key: GraphKey, _ attribute: Int, _ number: Int) {
        guard objects[key] != nil else { return }
        objects[key]?.numbers[attribute] = number
        edits[key, default: []].insert(attribute)
    }

    /// Changes a relationship as the program asks.
    mutating func change(_ owner: GraphKey, _ relationship: GraphRelationship, _ change: GraphChange, _ targets: [GraphKey]) {
        let end = End(owner: owner, relationship: relationship)
        let now = members(owner, relationship)
        let wanted = Self.wanted(now, relationship, change, targets)
        guard objects[owner] != nil else {
            // Only clearing a relationship of a deleted object is accepted.
            if wanted.isEmpty { resolve(end) } else { refuse(end, .constraint) }
            return
        }
        if !relationship.isToMany { noteToOne(owner) }
        for target in relationship.isToMany || wanted != now ? wanted : [] {
            if target.store != owner.store { return refuse(end, .misuse) }
            if objects[target] == nil { return refuse(end, .constraint) }
        }
        resolve(end)
        if relationship.isToMany { replace(end, wanted) } else { retarget(end, wanted.first) }
    }

    /// Returns the members that a relationship has after a change, if it is accepted.
    static func wanted(
        _ now: [GraphKey], _ relationship: GraphRelationship, _ change: GraphChange, _ targets: [GraphKey]
    ) -> [GraphKey] {
        guard relationship.isToMany else { return Array(targets.prefix(1)) }
        var members = now
        if relationship.isOrdered {
            change.apply(to: &members, targets)
        } else {
            switch change {
            case .assign: members = targets
            case .remove: members.removeAll { targets.contains($0) }
            default: members += targets
            }
        }
        var seen: Set<GraphKey> = []
        return members.filter { seen.insert($0).inserted }
    }

    private mutating func refuse(_ end: End, _ code: StoreError.Code) {
        refusals.removeAll { $0.end == end }
        refusals.append(Refusal(end: end, code: code))
    }

    private mutating func resolve(_ end: End) { refusals.removeAll { $0.end == end } }

    private mutating func retarget(_ end: End, _ target: GraphKey?) {
        let old = links[end]?.first
        guard old != target else { return }
        links[end] = nil
        if let old { removeInverse(end, old) }
        if let target { add(end, target) }
    }

    private mutating func replace(_ end: End, _ wanted: [GraphKey]) {
        let before = links[end] ?? []
        for target in before where !wanted.contains(target) {
            links[end]?.removeAll { $0 == target }
            removeInverse(end, target)
        }
        for target in wanted where !before.contains(target) { add(end, target) }
        links[end] = wanted
    }

    /// Removes the owner from the inverse relationship of a target.
    private mutating func removeInverse(_ end: End, _ target: GraphKey) {
        guard let inverse = end.relationship.inverse else { return }
        links[End(owner: target, relationship: inverse)]?.removeAll { $0 == end.owner }
        if !inverse.isToMany { noteToOne(target) }
    }

    /// Notes that a to-one relationship of an object was assigned.
    private mutating func noteToOne(_ key: GraphKey) { if objects[key] != nil { edits[key, default: []].insert(Self.toOne) } }

    /// Appends a target to a relationship, and the owner to the inverse.
    private mutating func add(_ end: End, _ target: GraphKey) {
        if links[end]?.contains(target) != true { links[end, default: []].append(target) }
        guard let inverse = end.relationship.inverse else { return }
        let back = End(owner: target, relationship: inverse)
        if !inverse.isToMany {
            // The target can have one owner only.
            if let former = links[back]?.first, former != end.owner {
                links[End(owner: former, relationship: end.relationship)]?.removeAll { $0 == target }
                if !end.relationship.isToMany { noteToOne(former) }
            }
            links[back] = [end.owner]
            noteToOne(target)
        } else if links[back]?.contains(end.owner) != true {
            links[back, default: []].append(end.owner)
        }
    }

    mutating func delete(_ key: GraphKey) {
        var work = [key]
        while let key = work.popLast() {
            guard let object = objects.removeValue(forKey: key) else { continue }
            deleted[key] = object.kind
            edits[key] = nil
            refusals.removeAll { $0.end.owner == key }
            for relationship in GraphRelationship.of(object.kind) {
                let end = End(owner: key, relationship: relationship)
                if relationship.rule == .deny {
                    denials.insert(end)
                    continue
                }
                let targets = links[end] ?? []
                if relationship.rule == .cascade { work += targets }
                links[end] = nil
                for target in targets { removeInverse(end, target) }
            }
            for (end, targets) in links where end.relationship.inverse == nil && targets.contains(key) {
                links[end]?.removeAll { $0 == key }
                if !end.relationship.isToMany { noteToOne(end.owner) }
            }
        }
    }

    // MARK: The commit

    /// Returns whether this is the error that the commit of the transaction throws, and which violations it lists.
    /// - Parameter base: the state at the beginning of an unqueued transaction; nil for a queued one.
    func failure(base: GraphState?, isChild: Bool = false) -> GraphFailure? {
        if let refusal = refusals.first { return GraphFailure(code: refusal.code, violations: []) }
        if let base {
            // What was created and deleted here is unknown to the transaction that takes the changes.
            let isDangling = denials.contains { end in base.objects[end.owner] == nil && (links[end] ?? []).contains { objects[$0] != nil }
            }
            if isDangling { return GraphFailure(code: .conflict, violations: []) }
        }
        if isChild { return nil }
        var violations: [String] = []
        for (key, object) in objects {
            for relationship in GraphRelationship.of(object.kind) {
                let count = members(key, relationship).count
                if relationship.isRequired, count == 0 { violations.append("\(relationship.name) \(key.rowID) required") }
                if let most = relationship.maxCount, count > most { violations.append("\(relationship.name) \(key.rowID) count") }
            }
        }
        for end in denials where (links[end] ?? []).contains(where: { objects[$0] != nil }) {
            violations.append("\(end.relationship.name) \(end.owner.rowID) deny")
        }
        return violations.isEmpty ? nil : GraphFailure(code: .constraint, violations: violations.sorted())
    }

    /// Returns the state of the parent after the commit of a child.
    func merged(into parent: GraphState) -> GraphState {
        var state = self
        state.refusals = parent.refusals.filter { objects[$0.end.owner] != nil || parent.deleted[$0.end.owner] != nil }
        state.denials.formUnion(parent.denials)
        state.edits = parent.edits.filter { objects[$0.key] != nil }
        for (key, fields) in edits { state.edits[key, default: []].formUnion(fields) }
        for (key, kind) in parent.deleted { state.deleted[key] = kind }
        // Objects that the child has created and deleted are unknown to the parent.
        for key in deleted.keys where parent.kind(key) == nil { state.deleted[key] = nil }
        return state
    }

    // MARK: Newer versions

    /// Moves a transaction to a newer version: unchanged objects have its values.
    mutating func refresh(to committed: GraphState) {
        for (key, object) in committed.objects where edits[key] == nil && deleted[key] == nil { objects[key] = object }
        for key in objects.keys where committed.objects[key] == nil && edits[key] == nil { objects[key] = nil }
    }

    /// Takes the attributes that were not assigned here from a newer version.
    mutating func keepAttributes(of committed: GraphState) {
        for (key, fields) in edits {
            guard let newer = committed.objects[key], let object = objects[key] else { continue }
            for attribute in object.numbers.indices where !fields.contains(attribute) {
                objects[key]?.numbers[attribute] = newer.numbers[attribute]
            }
        }
    }

    /// Restores the state before or after an undo step.
    /// - Parameter base: the version that the transaction shows, without its changes.
    mutating func restore(_ saved: GraphState, base: GraphState) {
        var state = saved
        for (key, object) in saved.objects {
            guard let before = base.objects[key] else { continue }
            guard let fields = saved.edits[key] else {
                state.objects[key] = before
                continue
            }
            // A deleted object keeps the values that it showed.
            guard deleted[key] == nil else { continue }
            let now = edits[key]
            for attribute in object.numbers.indices where !fields.contains(attribute) && now?.contains(attribute) != true {
                state.objects[key]?.numbers[attribute] = (now == nil ? before : objects[key] ?? before).numbers[attribute]
            }
        }
        for (key, object) in base.objects where saved.kind(key) == nil { state.objects[key] = object }
        self = state
    }
}
