import SeededRandom

/// Draws random programs. It knows which objects a program creates, and only roughly which of them exist.
struct GraphGenerator {
    private struct Known {
        let kind: GraphKind
        let store: Int
        var isDeleted = false
    }

    private var random: SplitMix64
    private let profile: GraphProfile
    private let actions: [GraphProfile.Action]
    private var program: [GraphOperation] = []
    private var objects: [Known] = []
    private var depth = 0
    private var value = 0
    /// The object and the attribute that were assigned last.
    private var assigned: (number: Int, attribute: Int)?

    /// Returns the program of a seed, and whether everything is compared after each of its operations.
    static func program(_ seed: UInt64, _ profile: GraphProfile) -> (operations: [GraphOperation], checksEachStep: Bool) {
        var generator = GraphGenerator(seed, profile)
        let checksEachStep = generator.random.once(in: 3)
        generator.drawProgram()
        return (generator.program, checksEachStep)
    }

    private init(_ seed: UInt64, _ profile: GraphProfile) {
        random = SplitMix64(seed: seed)
        self.profile = profile
        actions = profile.weights.flatMap { Array(repeating: $0.0, count: $0.1) }
    }

    private mutating func drawProgram() {
        for _ in 0..<2 + random.below(4) {
            if !objects.isEmpty, profile == .deletions || profile == .everything, random.once(in: 3) { relateGone() }
            program.append(.begin(random.pick(profile.transactions)))
            // Most relationships need something to lead to.
            if objects.count < 6 { for _ in 0..<5 { create() } }
            for _ in 0..<4 + random.below(16) { draw() }
            while depth > 0 { endChild() }
            program.append(.end(commits: !random.once(in: 8)))
        }
    }

    private mutating func draw() {
        switch random.pick(actions) {
        case .create: create()
        case .delete:
            guard let number = pick() else { return }
            program.append(.delete(number, byID: random.once(in: 3)))
            objects[number].isDeleted = true
        case .set:
            guard let number = pick() else { return }
            let attribute = random.below(2)
            program.append(.set(number, attribute: attribute, nextValue()))
            assigned = (number, attribute)
        case .change: change(ofDeleted: false)
        case .changeDeleted: change(ofDeleted: true)
        case .relateGone: relateGone()
        case .release: program.append(.release)
        case .child:
            if depth > 0, random.below(2) == 0 { return endChild() }
            guard depth < 2 else { return }
            program.append(.beginChild)
            depth += 1
        case .commit: program.append(.commit)
        case .step:
            guard let assigned, profile == .undo, random.once(in: 4) else {
                return program.append(random.pick([.flush, .flush, .undo, .undo, .redo]))
            }
            // Another transaction changes the other attribute of an object between undo and redo.
            program += [.undo, .otherSet(assigned.number, attribute: 1 - assigned.attribute, nextValue())]
            if random.once(in: 2) { program.append(.refresh) }
            program.append(.redo)
        case .refresh: program.append(.refresh)
        case .other: other()
        case .fetch: fetch()
        case .batchUpdate:
            guard let target = target(random.pick([.department, .project])) else { return }
            let relationship: GraphRelationship = kind(target.target) == .project ? .parent : .department
            program.append(.batchUpdate(relationship, target.target, store: random.below(profile.storeCount), nextValue()))
        case .fetchOrCreate:
            guard let target = target(.department) else { return }
            let store = random.once(in: 3) ? random.below(profile.storeCount) : target.store
            objects.append(Known(kind: .project, store: store))
            program.append(.fetchOrCreate(objects.count - 1, owner: target.target, store: store, 1 + random.below(3)))
        }
    }

    private mutating func nextValue() -> Int {
        value += 1
        return value
    }

    private mutating func endChild() {
        depth -= 1
        program.append(.endChild(commits: !random.once(in: 4)))
    }

    private mutating func create() {
        var kind = random.pick(profile.kinds)
        let store = random.below(profile.storeCount)
        let departments = objects.indices.filter { objects[$0].kind == .department && objects[$0].store == store && !objects[$0].isDeleted }
        if kind == .project, departments.isEmpty { kind = .department }
        objects.append(Known(kind: kind, store: store))
        let number = objects.count - 1
        program.append(.create(number, kind, store: store))
        // A project without an owner cannot be committed.
        if kind == .project, !random.once(in: 25) {
            program.append(.change(number, .owner, .assign, [random.pick(departments)], isInPlace: false))
        }
    }

    private mutating func other() {
        switch random.below(5) {
        case 0:
            let kind = random.pick(profile.kinds.filter { $0 != .project })
            let store = random.below(profile.storeCount)
            objects.append(Known(kind: kind, store: store))
            program.append(.otherCreate(objects.count - 1, kind, store: store))
        case 1: if let number = pick() { program.append(.otherDelete(number)) }
        default: if let number = pick() { program.append(.otherSet(number, attribute: random.below(2), nextValue())) }
        }
    }

    // MARK: Relationships

    /// Returns an object, mostly one that exists.
    private mutating func pick(deleted: Bool = false, where condition: (GraphKind, Int) -> Bool = { _, _ in true }) -> Int? {
        let fitting = objects.indices.filter { condition(objects[$0].kind, objects[$0].store) }
        let preferred = fitting.filter { objects[$0].isDeleted == deleted }
        if !preferred.isEmpty { return random.pick(preferred) }
        return fitting.isEmpty ? nil : random.pick(fitting)
    }

    private mutating func change(ofDeleted isDeleted: Bool) {
        let ownerIsDeleted = isDeleted && random.once(in: 2)
        guard let owner = pick(deleted: ownerIsDeleted) else { return }
        let relationships = GraphRelationship.of(objects[owner].kind)
        guard !relationships.isEmpty else { return }
        let relationship = random.pick(relationships)
        // Rarely an object of the other store, which is refused.
        let store = random.once(in: 40) ? 1 - objects[owner].store : objects[owner].store
        var targets: [Int] = []
        for index in 0..<(relationship.isToMany ? random.below(5) : 1) {
            let target = pick(deleted: isDeleted && !ownerIsDeleted && index == 0) { relationship.targets.contains($0) && $1 == store }
            if let target { targets.append(target) }
        }
        if !relationship.isToMany, random.once(in: 4) { targets = [] }
        let kind: GraphChange
        switch relationship.isToMany ? random.below(8) : 0 {
        case 0, 1: kind = .assign
        case 2: kind = .remove
        case 3: kind = relationship.isOrdered ? .reverse : .assign
        case 4: kind = relationship.isOrdered ? .move(from: random.below(5), to: random.below(5)) : .remove
        default:
            kind = .insert(at: random.below(4))
            targets = Array(targets.prefix(1 + random.below(2)))
        }
        // A list that is changed in place is an array, which contains no object twice.
        if kind != .assign { targets = Array(Set(targets)).sorted() }
        program.append(.change(owner, relationship, kind, targets, isInPlace: relationship.isToMany && random.once(in: 2)))
    }

    private mutating func relateGone() {
        let ownerIsGone = random.once(in: 2)
        guard let owner = pick(deleted: ownerIsGone) else { return }
        let relationships = GraphRelationship.of(objects[owner].kind)
        guard !relationships.isEmpty else { return }
        let relationship = random.pick(relationships)
        let store = objects[owner].store
        let target = pick(deleted: !ownerIsGone || random.once(in: 4)) { relationship.targets.contains($0) && $1 == store }
        if let target { program.append(.relateGone(owner, relationship, target)) }
    }

    // MARK: Conditions

    private func kind(_ target: GraphOperation.Target) -> GraphKind? {
        if case .own(let number) = target { objects[number].kind } else { nil }
    }

    private mutating func target(_ kind: GraphKind) -> (target: GraphOperation.Target, store: Int)? {
        if random.once(in: 4) { return (.foreign(1 + random.below(8)), random.below(profile.storeCount)) }
        guard let number = pick(where: { found, _ in found == kind }) else { return nil }
        return (.own(number), objects[number].store)
    }

    private mutating func fetch() {
        let relationship = random.pick([.department, .owner, .parent, .playlist, .whole, .boss, .spouse] as [GraphRelationship])
        let targets = (0..<1 + random.below(3)).compactMap { _ in target(relationship.targets[0])?.target }
        guard !targets.isEmpty else { return }
        let store: Int? = random.once(in: 3) ? nil : random.below(profile.storeCount)
        program.append(.fetch(relationship, random.pick(GraphOperation.Form.allCases), targets, store: store))
    }
}
