import EngineTestSupport
import Foundation
import MigrationMatrix
import PolyStore
import PolyStoreBackend
import PolyStoreCore
import TestSupport
import Testing

/// Random pairs of versions that differ in a property and its inverse, compared with an oracle of arrays and dictionaries: each migration carries, refuses or
/// reports what the oracle says.
///
/// `POLYSTORE_MATRIX_PAIRS` is the number of pairs of each backend and `POLYSTORE_MATRIX_FIRST` the number of the first one. The pairs of a backend run one after
/// another, because its classes declare one schema at a time.
@Suite
struct RelationshipMatrixTests {
    private static let pairs = UInt64(TestEnvironment.number("POLYSTORE_MATRIX_PAIRS") ?? Ring.size(100, thorough: 2_000))
    private static let first = UInt64(TestEnvironment.number("POLYSTORE_MATRIX_FIRST") ?? 0)
    /// One of so many pairs is also migrated by a process that is killed.
    private static let killed: UInt64 = 25

    @Test(arguments: Backend.persistent)
    func everyPairIsCarriedRefusedOrReported(_ backend: Backend) throws {
        switch backend {
        case .lmdb: try run(LMDBChannel.self, backend)
        case .levelDB: try run(LevelDBChannel.self, backend)
        default: try run(SQLiteChannel.self, backend)
        }
    }

    private func run<Channel: MatrixChannel>(_ channel: Channel.Type, _ backend: Backend) throws {
        var outcomes = (carried: 0, refused: 0, reported: 0, contradictions: 0)
        for number in Self.first..<(Self.first + Self.pairs) {
            let pair = MatrixPair(number)
            let oracle = MatrixOracle(pair)
            var failures = try check(channel, backend, pair, oracle, &outcomes.contradictions)
            if number % Self.killed == 0 { failures += try kill(channel, backend, pair, oracle) }
            #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))\n\(pair)\n\(oracle.findings)")
            if oracle.isRefused {
                outcomes.refused += 1
            } else if oracle.findings.isEmpty {
                outcomes.carried += 1
            } else {
                outcomes.reported += 1
            }
            if Self.pairs > 1_000, !failures.isEmpty { return }
        }
        print("\(backend): \(outcomes)")
        if Self.pairs >= 100 {
            #expect(outcomes.carried > 0 && outcomes.refused > 0 && outcomes.reported > 0 && outcomes.contradictions > 0)
        }
    }

    // MARK: A pair

    private func check<Channel: MatrixChannel>(
        _ channel: Channel.Type, _ backend: Backend, _ pair: MatrixPair, _ oracle: MatrixOracle, _ contradictions: inout Int
    ) throws -> [String] {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let old = try ResolvedSchema(channel.description("Old", pair.entities(pair.old)))
        try pair.fill(store, channel.description("Old", pair.entities(pair.old)))
        let before = try store.contents(old)
        var failures = before.differences(from: contents(pair, pair.old, pair.values, pair.leftTargets, pair.rightTargets))
        let schema = channel.schema("New", pair.entities(pair.new))
        let new = try ResolvedSchema(SchemaDescription(name: "New", entities: schema.locked.entities))
        let stack = try DataStack(schema, logger: SilentLogger())
        let rehearsal = try stack.rehearseMigrationAndWait(of: store, migrating: pair.policy)
        failures += differences(rehearsal, oracle)
        failures += try store.contents(old).differences(from: before)
        do {
            let report = try stack.upgradeStoreIfNeededAndWait(store, migrating: pair.policy)
            if oracle.isRefused { return failures + ["it is migrated, and must be refused"] }
            if report.findings != rehearsal.findings {
                failures.append("the migration reports \(report.findings), not \(rehearsal.findings)")
            }
        } catch let error as StoreError {
            guard oracle.isRefused else { return failures + ["it is refused: \(error.message)"] }
            let isNamed =
                oracle.hasDuplicates
                || oracle.findings.contains {
                    $0.kind == "refused" && $0.entity == error.entity && $0.property == error.attribute
                        && error.rowID.map($0.ids.contains) ?? false
                }
            if !isNamed { failures.append("the error names other objects: \(error)") }
            return failures + (try store.contents(old).differences(from: before))
        }
        let expected = contents(pair, pair.new, oracle.values, oracle.leftTargets, oracle.rightTargets)
        // Verifies the store.
        failures += try store.contents(new).differences(from: expected)
        if failures.isEmpty, try !findsContradiction(store, new, pair, oracle, &contradictions) {
            failures.append("the verification does not find a contradiction")
        }
        return failures
    }

    /// Compares the findings of a rehearsal with the oracle.
    private func differences(_ report: MigrationReport, _ oracle: MatrixOracle) -> [String] {
        let found = Set(report.findings.map { MatrixOracle.Finding($0.kind.rawValue, $0.entity, $0.property ?? "", $0.rowIDs) })
        if oracle.hasDuplicates {
            // Duplicates are found before the migration or while it writes.
            return report.isPossible || !oracle.findings.isSubset(of: found) ? ["the rehearsal finds \(found)"] : []
        }
        return found == oracle.findings ? [] : ["the rehearsal finds \(found)"]
    }

    /// Returns the contents of a store of a version.
    private func contents(
        _ pair: MatrixPair, _ version: MatrixPair.Version, _ values: [Int64: Int64], _ left: [Int64: [Int64]], _ right: [Int64: [Int64]]
    ) -> StoreContents {
        var contents = StoreContents()
        contents.entities["Left"] = [:]
        contents.entities[version.rightEntity] = [:]
        for id in pair.leftIDs {
            var row: [String: StoreContents.Cell] = ["name": .value(.integer(id))]
            if pair.isHierarchy { row[EntityHierarchy.classifier] = .value(.text(pair.isLeaf(id) ? "Leaf" : "Left")) }
            if version.left == .attribute { row[version.leftName] = .value(values[id].map { .integer($0) } ?? .null) }
            if version.left.isRelationship {
                row[version.leftName] = .ids(version.left == .ordered ? left[id] ?? [] : (left[id] ?? []).sorted())
            }
            contents.entities["Left"]?[id] = row
        }
        for id in pair.rightIDs {
            var row: [String: StoreContents.Cell] = ["name": .value(.integer(id))]
            if version.right.isRelationship {
                row[version.rightName] = .ids(version.right == .ordered ? right[id] ?? [] : (right[id] ?? []).sorted())
            }
            contents.entities[version.rightEntity]?[id] = row
        }
        return contents
    }

    // MARK: Contradictions

    /// Plants a contradiction of two ends, if the new version has two ends that are stored apart, and returns whether the verification finds it.
    private func findsContradiction(
        _ store: StoreConfiguration, _ schema: ResolvedSchema, _ pair: MatrixPair, _ oracle: MatrixOracle, _ count: inout Int
    ) throws -> Bool {
        guard let left = schema.entity(named: "Left"), let relationship = left.relationship(named: pair.new.leftName),
            let inverse = relationship.inverse
        else { return true }
        let changes = ChangeSet(schema)
        let destination = schema.entities[relationship.destination]
        let targets = relationship.destination == left.index ? pair.leftIDs : pair.rightIDs
        guard let owner = pair.leftIDs.first,
            let target = targets.first(where: { $0 != owner && !(oracle.leftTargets[owner] ?? []).contains($0) })
        else { return true }
        switch relationship.storage {
        case .foreignKey(let field):
            guard case .foreignKey = destination.relationships[inverse].storage else { return true }
            var mask = FieldMask()
            mask.insert(field)
            try changes.update(left, rowID: owner, mask: mask) { try $0.set(left.fields[field], .integer(target)) }
        case .link(let table, _):
            guard schema.links[table].isSymmetric else { return true }
            changes.link(ChangeSet.LinkChange(table: table, source: owner, target: target, isAddition: true))
        case .inverse: return true
        }
        count += 1
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        defer { try? backend.close() }
        let writer = try backend.beginWrite()
        try writer.apply(changes)
        _ = try writer.commit(.relaxed)
        return try backend.verify().contains { $0.contains("\(owner)") && $0.contains("\(target)") }
    }

    // MARK: Kills

    /// Kills a process that migrates a store of the pair. The store is then the old one or the new one, or refuses as before.
    private func kill<Channel: MatrixChannel>(
        _ channel: Channel.Type, _ backend: Backend, _ pair: MatrixPair, _ oracle: MatrixOracle
    ) throws -> [String] {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let description = channel.description("Old", pair.entities(pair.old))
        try pair.fill(store, description)
        let schema = channel.schema("New", pair.entities(pair.new))
        let new = try ResolvedSchema(SchemaDescription(name: "New", entities: schema.locked.entities))
        let child = try Child(program: "matrix-child", backend.rawValue, store.location, "\(pair.number)")
        guard child.line() == "ready" else { return ["the process did not start"] }
        try child.goOn()
        // Any moment will do: the state of the store is checked, not the time.
        Thread.sleep(forTimeInterval: Double(pair.number % 7) * 0.002)
        child.kill()
        let stack = try DataStack(schema, logger: SilentLogger())
        do {
            try stack.upgradeStoreIfNeededAndWait(store, migrating: pair.policy)
            if oracle.isRefused { return ["it is migrated after a kill, and must be refused"] }
        } catch let error as StoreError {
            if !oracle.isRefused { return ["it is refused after a kill: \(error.message)"] }
            let expected = contents(pair, pair.old, pair.values, pair.leftTargets, pair.rightTargets)
            return try store.contents(ResolvedSchema(description)).differences(from: expected)
        }
        let expected = contents(pair, pair.new, oracle.values, oracle.leftTargets, oracle.rightTargets)
        return try store.contents(new).differences(from: expected)
    }
}
