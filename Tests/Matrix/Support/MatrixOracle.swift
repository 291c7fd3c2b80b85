/// What the migration of a pair must do. Computed from arrays and dictionaries, without the code of the product.
package struct MatrixOracle: Sendable {
    /// A refusal or a loss, with the objects that it concerns.
    package struct Finding: Hashable, Sendable, CustomStringConvertible {
        package let kind: String
        package let entity: String
        package let property: String
        package let ids: [Int64]

        package init(_ kind: String, _ entity: String, _ property: String, _ ids: [Int64]) {
            (self.kind, self.entity, self.property, self.ids) = (kind, entity, property, ids)
        }

        package var description: String { "\(kind) \(entity).\(property) \(ids)" }
    }

    package private(set) var findings: Set<Finding> = []
    /// Whether two objects have one value of an attribute that is unique in the new version.
    package private(set) var hasDuplicates = false
    /// The contents after the migration, by row id.
    package private(set) var values: [Int64: Int64] = [:]
    package private(set) var leftTargets: [Int64: [Int64]] = [:]
    package private(set) var rightTargets: [Int64: [Int64]] = [:]

    package var isRefused: Bool { hasDuplicates || findings.contains { $0.kind == "refused" } }

    private let pair: MatrixPair

    package init(_ pair: MatrixPair) {
        self.pair = pair
        migrateAttribute()
        migrateRelationships()
    }

    private var old: MatrixPair.Version { pair.old }
    private var new: MatrixPair.Version { pair.new }
    /// The objects whose entity has the left property in the new version.
    private var owners: [Int64] { pair.leftIDs.filter(isOwner) }
    private func isOwner(_ id: Int64) -> Bool { !new.isInLeaf || pair.isLeaf(id) }

    private mutating func report(_ kind: String, _ entity: String, _ property: String, _ ids: [Int64]) {
        if !ids.isEmpty { findings.insert(Finding(kind, entity, property, ids)) }
    }

    private mutating func migrateAttribute() {
        let continues = old.left == .attribute && new.left == .attribute
        if old.left == .attribute, !continues { report("lost", "Left", old.leftName, pair.values.keys.sorted()) }
        guard new.left == .attribute else { return }
        if continues {
            values = pair.values.filter { isOwner($0.key) }
            report("lost", "Left", old.leftName, pair.values.keys.filter { !isOwner($0) }.sorted())
        }
        if new.isRequired { report("refused", "Left", new.leftName, owners.filter { values[$0] == nil }) }
        if new.isUnique { hasDuplicates = Set(values.values).count < values.count }
    }

    // MARK: Relationships

    private mutating func migrateRelationships() {
        let leftContinues = old.left.isRelationship && new.left.isRelationship && old.left.isSymmetric == new.left.isSymmetric
        let rightContinues = old.right.isRelationship && new.right.isRelationship
        if old.left.isRelationship, !leftContinues, !(old.isLinked && rightContinues) {
            report("lost", "Left", old.leftName, pair.leftTargets.keys.sorted())
        }
        if old.right.isRelationship, !rightContinues, !(old.isLinked && leftContinues) {
            report("lost", old.rightEntity, old.rightName, pair.rightTargets.keys.sorted())
        }
        let left = leftContinues ? pair.leftTargets : [:]
        let right = rightContinues ? pair.rightTargets : [:]
        if leftContinues, old.left == .ordered, !new.left.isToOne, new.left != .ordered {
            report("lost", "Left", old.leftName, left.keys.filter { left[$0]?.count ?? 0 > 1 }.sorted())
        }
        if rightContinues, old.right == .ordered, new.right == .toMany {
            report("lost", old.rightEntity, old.rightName, right.keys.filter { right[$0]?.count ?? 0 > 1 }.sorted())
        }
        let leftName = leftContinues ? old.leftName : new.leftName
        let rightName = rightContinues ? old.rightName : new.rightName
        var (mine, theirs) = (left, right)
        if new.isLinked {
            mine = union(left, right, keepsOrder: old.left == .ordered, isToOne: new.left.isToOne)
            theirs = union(right, left, keepsOrder: old.right == .ordered, isToOne: new.right.isToOne)
        } else if new.left.isSymmetric {
            mine = union(left, left, keepsOrder: false, isToOne: new.left.isToOne)
        }
        if new.left.isRelationship { exclude(&mine, &theirs, leftName, rightName) }
        choose(mine, theirs, leftName, rightName)
        if new.left.isRelationship { checkOwners() }
    }

    /// Returns the targets of each object, with the objects that lead to it.
    private func union(
        _ own: [Int64: [Int64]], _ other: [Int64: [Int64]], keepsOrder: Bool, isToOne: Bool
    ) -> [Int64: [Int64]] {
        var all = own
        for (id, targets) in other.sorted(by: { $0.key < $1.key }) {
            for target in targets where !(all[target] ?? []).contains(id) { all[target, default: []].append(id) }
        }
        if !keepsOrder, !isToOne { all = all.mapValues { $0.sorted() } }
        return all
    }

    /// Removes the pairs of objects whose entity does not have the property.
    private mutating func exclude(
        _ mine: inout [Int64: [Int64]], _ theirs: inout [Int64: [Int64]], _ leftName: String, _ rightName: String
    ) {
        let before = (mine, theirs)
        mine = mine.filter { isOwner($0.key) }
        if new.left.isSymmetric { mine = mine.mapValues { $0.filter(isOwner) } }
        let (lost, kept) = (before.0, mine)
        report("lost", "Left", leftName, lost.keys.filter { lost[$0]?.count ?? 0 > kept[$0]?.count ?? 0 }.sorted())
        guard new.isLinked else { return }
        theirs = theirs.mapValues { $0.filter(isOwner) }
        let (lostBack, keptBack) = (before.1, theirs)
        report("lost", old.rightEntity, rightName, lostBack.keys.filter { lostBack[$0]?.count ?? 0 > keptBack[$0]?.count ?? 0 }.sorted())
    }

    /// Keeps what to-one ends can hold, and reports the objects with several candidates.
    private mutating func choose(_ mine: [Int64: [Int64]], _ theirs: [Int64: [Int64]], _ leftName: String, _ rightName: String) {
        func several(_ lists: [Int64: [Int64]]) -> [Int64] { lists.filter { $0.value.count > 1 }.keys.sorted() }
        if new.left.isToOne {
            report(
                pair.allowsLoss ? "lost" : "refused", "Left", pair.allowsLoss ? leftName : new.leftName, several(mine))
        }
        if new.right.isToOne {
            report(
                pair.allowsLoss ? "lost" : "refused", pair.allowsLoss ? old.rightEntity : new.rightEntity,
                pair.allowsLoss ? rightName : new.rightName, several(theirs))
        }
        func kept(_ lists: [Int64: [Int64]], _ isToOne: Bool, _ back: [Int64: [Int64]], _ isBackToOne: Bool) -> [Int64: [Int64]] {
            var result: [Int64: [Int64]] = [:]
            for (id, targets) in lists {
                let first = isToOne ? Array(targets.prefix(1)) : targets
                result[id] = first.filter { !isBackToOne || back[$0]?.first == id }
            }
            return result.filter { !$0.value.isEmpty }
        }
        if new.left.isRelationship {
            let isMate = new.left == .mate
            leftTargets = kept(mine, new.left.isToOne, isMate ? mine : theirs, isMate || new.isLinked && new.right.isToOne)
        }
        if new.right.isRelationship { rightTargets = kept(theirs, new.right.isToOne, mine, new.isLinked && new.left.isToOne) }
    }

    private mutating func checkOwners() {
        if new.isRequired { report("refused", "Left", new.leftName, owners.filter { leftTargets[$0] == nil }) }
        guard let counts = new.counts else { return }
        let most = counts.upperBound == 9 ? Int.max : counts.upperBound
        let wrong = owners.filter { id in
            let count = leftTargets[id]?.count ?? 0
            return count < counts.lowerBound || count > most
        }
        report("refused", "Left", new.leftName, wrong)
    }
}
