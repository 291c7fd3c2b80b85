import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import TestModels
import TestSupport
import Testing

/// Random programs of the object layer, compared with a naive model: creations, deletions, attributes and relationships, children, explicit commits, undo,
/// other transactions, and conditions on objects of other stores and stacks.
///
/// A mismatch is reported with its seed and a program that is as short as possible. For more seeds, as a count or a range:
/// `POLYSTORE_GRAPH_FUZZ_SEEDS=1000 swift test --filter GraphFuzzTests`, `POLYSTORE_GRAPH_FUZZ_SEEDS=5000..<6000`; with
/// `POLYSTORE_GRAPH_FUZZ_PROFILE=orders` those of one profile only.
@Suite struct GraphFuzzTests {
    private static let profiles = GraphProfile.allCases.filter { profile in
        TestEnvironment.text("POLYSTORE_GRAPH_FUZZ_PROFILE").map { $0 == profile.rawValue } ?? true
    }

    /// The seeds to run.
    private static func seeds(_ profile: GraphProfile) throws -> Range<UInt64> {
        guard let text = TestEnvironment.text("POLYSTORE_GRAPH_FUZZ_SEEDS") else { return 0..<(profile == .everything ? 6 : 2) }
        if let count = UInt64(text) { return 0..<count }
        let bounds = text.components(separatedBy: "..<").compactMap { UInt64($0) }
        guard bounds.count == 2, bounds[0] <= bounds[1] else {
            throw GraphMismatch("\(text) is neither a count nor a range such as 5..<10")
        }
        return bounds[0]..<bounds[1]
    }

    @Test(arguments: Backend.forObjectLayer, profiles)
    func programsDoWhatTheModelDoes(_ backend: Backend, _ profile: GraphProfile) throws {
        let other = try DataStack(Schema("Other", GraphKind.schema), logger: SilentLogger())
        try other.addStore(.inMemory())
        let elsewhere = try Self.fill(other)
        for seed in try Self.seeds(profile) {
            let (program, checksEachStep) = GraphGenerator.program(seed, profile)
            func failure(_ program: [GraphOperation]) -> String? {
                do {
                    let folder = try Folder()
                    try GraphRun(program, backend, folder, elsewhere, checksEachStep: checksEachStep).run()
                    return nil
                } catch { return "\(error)" }
            }
            guard failure(program) != nil else { continue }
            let short = Self.shrunk(program) { failure($0) != nil }
            Issue.record(
                "\(profile), seed \(seed), \(backend.rawValue): \(failure(short) ?? "")\n\(short.map(\.description).joined(separator: "; "))"
            )
        }
    }

    /// Creates objects with the row ids 1 to 8 of each class that conditions use.
    private static func fill(_ stack: DataStack) throws -> GraphIDs {
        try stack.performAndWait { transaction throws in
            var ids: GraphIDs = [:]
            func create<T: Model>(_ type: T.Type) throws {
                let object = try transaction.create(Into<T>())
                if let person = object as? Person { person.email = "\(person.objectID)" }
                if let worker = object as? Worker { worker.badge = "foreign" }
                if let project = object as? Project { project.owner = try transaction.fetchOne(From<Department>()) }
                if let key = GraphKey(object) { ids[key] = object.objectID }
            }
            for kind in [.department, .person, .project, .playlist, .worker] as [GraphKind] {
                for _ in 0..<8 { try create(kind.type) }
            }
            return ids
        }
    }

    /// Removes operations, many at first, as long as the program still fails.
    private static func shrunk(_ program: [GraphOperation], _ fails: ([GraphOperation]) -> Bool) -> [GraphOperation] {
        var program = program
        var size = program.count / 2
        while size > 0 {
            var start = 0
            var isShorter = false
            while start < program.count {
                var shorter = program
                shorter.removeSubrange(start..<min(start + size, program.count))
                if fails(shorter) {
                    program = shorter
                    isShorter = true
                } else {
                    start += size
                }
            }
            if !isShorter || size > 1 { size /= 2 }
        }
        return program
    }
}
