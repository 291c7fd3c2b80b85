import SeededRandom

/// Two versions of a schema with one property of the left entity and one of the right, and the data of a store of the first.
package struct MatrixPair: Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        case none, attribute, toOne, toMany, ordered
        /// A to-many relationship of the left entity that is its own inverse.
        case symmetric
        /// A to-one relationship of the left entity that is its own inverse.
        case mate

        package var isRelationship: Bool { self != .none && self != .attribute }
        package var isToOne: Bool { self == .toOne || self == .mate }
        package var isSymmetric: Bool { self == .symmetric || self == .mate }
    }

    /// One version.
    package struct Version: Sendable {
        /// The property of the left entity.
        package var left = Kind.none
        /// The property of the right entity: none, to-one, to-many or ordered.
        package var right = Kind.none
        /// Whether the two properties are inverses.
        package var isLinked = false
        /// Whether a to-one relationship or attribute of the left entity must have a value.
        package var isRequired = false
        /// Whether the attribute of the left entity is unique.
        package var isUnique = false
        /// The allowed number of objects of a to-many relationship of the left entity.
        package var counts: ClosedRange<Int>?
        /// Whether the subentity declares the property of the left entity.
        package var isInLeaf = false
        package var leftName = "a"
        package var leftOriginal: String?
        package var rightName = "b"
        package var rightOriginal: String?
        package var rightEntity = "Right"
        package var rightEntityOriginal: String?
    }

    package let number: UInt64
    package var old = Version()
    package var new = Version()
    /// Whether the left entity holds a hierarchy.
    package var isHierarchy = false
    package var allowsLoss = false
    package var leftCount = 0
    package var rightCount = 0
    /// The values of the attribute, by row id.
    package var values: [Int64: Int64] = [:]
    /// The targets of the left and the right property, by row id.
    package var leftTargets: [Int64: [Int64]] = [:]
    package var rightTargets: [Int64: [Int64]] = [:]

    /// Whether an object is of the subentity.
    package func isLeaf(_ id: Int64) -> Bool { isHierarchy && id % 2 == 0 }
    package var leftIDs: [Int64] { leftCount == 0 ? [] : (1...Int64(leftCount)).map { $0 } }
    package var rightIDs: [Int64] { rightCount == 0 ? [] : (1...Int64(rightCount)).map { $0 } }

    package init(_ number: UInt64) {
        self.number = number
        var random = SplitMix64(seed: number &* 0x9e37_79b9_7f4a_7c15 &+ 1)
        isHierarchy = random.once(in: 2)
        allowsLoss = random.once(in: 3)
        old = Self.version(isHierarchy, &random)
        new = Self.version(isHierarchy, &random)
        if random.once(in: 3) {
            old.leftName = "was"
            new.leftOriginal = "was"
        }
        if random.once(in: 3) {
            old.rightName = "had"
            new.rightOriginal = "had"
        }
        if random.once(in: 4) {
            old.rightEntity = "Former"
            new.rightEntityOriginal = "Former"
        }
        // Exercises versions that differ in nothing else.
        if random.once(in: 6) { new.right = old.right }
        if random.once(in: 6) { new.left = old.left }
        normalize(&old)
        normalize(&new)
        fill(&random)
    }

    private static func version(_ isHierarchy: Bool, _ random: inout SplitMix64) -> Version {
        var version = Version()
        version.left = random.pick(Kind.allCases)
        version.right = random.pick([.none, .none, .toOne, .toMany, .ordered])
        version.isLinked = !random.once(in: 3)
        version.isRequired = random.once(in: 4)
        version.isUnique = random.once(in: 3)
        if random.once(in: 4) { version.counts = random.once(in: 2) ? 0...2 : 1...9 }
        version.isInLeaf = isHierarchy && random.once(in: 2)
        return version
    }

    /// Makes a version consistent.
    private func normalize(_ version: inout Version) {
        if !version.left.isRelationship || version.left.isSymmetric || !version.right.isRelationship { version.isLinked = false }
        if version.left != .attribute { version.isUnique = false }
        if version.left != .attribute, !version.left.isToOne { version.isRequired = false }
        if !version.left.isRelationship || version.left.isToOne { version.counts = nil }
    }

    // MARK: Data

    /// Makes data that is valid in the old version. Sparse data fits most new versions, and dense data does not.
    private mutating func fill(_ random: inout SplitMix64) {
        leftCount = random.once(in: 12) ? 0 : 3 + random.below(6)
        rightCount = leftCount == 0 ? 0 : 3 + random.below(5)
        let density = random.pick([0, 1, 1, 2, 3])
        let owners = leftIDs.filter { !old.isInLeaf || isLeaf($0) }
        switch old.left {
        case .none: break
        case .attribute:
            for id in owners where old.isRequired || random.below(4) > 0 {
                values[id] = old.isUnique || density < 2 ? id * 10 : Int64(random.below(4))
            }
        case .toOne:
            for id in owners where old.isRequired || random.below(3) < density { leftTargets[id] = [random.pick(rightIDs)] }
        case .toMany, .ordered:
            for id in owners {
                let count = max(old.counts?.lowerBound ?? 0, min(random.below(density + 1), old.counts?.upperBound ?? 9))
                leftTargets[id] = random.pick(count, of: rightIDs)
            }
        case .symmetric, .mate:
            fillSymmetric(owners, density, &random)
        }
        if !old.isLinked, old.right.isRelationship {
            for id in rightIDs {
                let count = old.right.isToOne ? min(1, random.below(density + 1)) : random.below(density + 1)
                rightTargets[id] = random.pick(count, of: leftIDs)
            }
            // The ends of half of the stores agree.
            if old.left.isRelationship, !old.left.isSymmetric, random.once(in: 2) { copyEnds(owners) }
        }
        if old.isLinked { link(&random) }
        for key in leftTargets.keys where old.left != .ordered { leftTargets[key]?.sort() }
        for key in rightTargets.keys where old.right != .ordered { rightTargets[key]?.sort() }
        leftTargets = leftTargets.filter { !$0.value.isEmpty }
        rightTargets = rightTargets.filter { !$0.value.isEmpty }
    }

    private mutating func fillSymmetric(_ owners: [Int64], _ density: Int, _ random: inout SplitMix64) {
        for (index, id) in owners.enumerated() {
            for other in owners.dropFirst(index + 1) where random.below(4) < density {
                let limit = old.left == .mate ? 1 : old.counts?.upperBound ?? 9
                guard leftTargets[id]?.count ?? 0 < limit, leftTargets[other]?.count ?? 0 < limit else { continue }
                leftTargets[id, default: []].append(other)
                leftTargets[other, default: []].append(id)
            }
        }
        let least = old.left == .mate ? (old.isRequired ? 1 : 0) : old.counts?.lowerBound ?? 0
        // An object may be related to itself.
        for id in owners where leftTargets[id]?.count ?? 0 < least { leftTargets[id, default: []].append(id) }
    }

    private mutating func copyEnds(_ owners: [Int64]) {
        rightTargets = [:]
        for id in owners {
            for target in leftTargets[id] ?? [] where !old.right.isToOne || rightTargets[target] == nil {
                rightTargets[target, default: []].append(id)
            }
        }
    }

    /// Makes the right ends of inverse relationships, and removes what a to-one end cannot hold.
    private mutating func link(_ random: inout SplitMix64) {
        rightTargets = [:]
        for id in leftTargets.keys.sorted() {
            var kept: [Int64] = []
            for target in leftTargets[id] ?? [] where !old.right.isToOne || rightTargets[target] == nil {
                rightTargets[target, default: []].append(id)
                kept.append(target)
            }
            leftTargets[id] = kept
        }
        if old.right == .ordered { for id in rightIDs { rightTargets[id] = random.pick(9, of: rightTargets[id] ?? []) } }
        // Requirements that the data can no longer meet are dropped.
        let owners = leftIDs.filter { !old.isInLeaf || isLeaf($0) }
        if owners.contains(where: { leftTargets[$0]?.isEmpty ?? true }) { old.isRequired = false }
        if let counts = old.counts, owners.contains(where: { !counts.contains(leftTargets[$0]?.count ?? 0) }) { old.counts = nil }
    }

    package var description: String {
        "pair \(number): \(old) -> \(new), hierarchy \(isHierarchy), loss \(allowsLoss), \(leftCount)+\(rightCount) objects, values \(values), left \(leftTargets), "
            + "right \(rightTargets)"
    }
}
