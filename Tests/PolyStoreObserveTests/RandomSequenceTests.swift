import Foundation
import PolyStore
import SeededRandom
import TestSupport
import Testing

/// Random commits, observed by sequences of every list shape. Each change must transform one state into the next, and the last state must equal a fetch.
@Suite struct RandomSequenceTests {
    /// A query, and the sections if it has any.
    struct Shape: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let source: FetchChain<Worker>
        var section: SectionBy<Worker>?

        static let all: [Shape] = [
            Shape(testDescription: "all", source: From<Worker>().chain),
            Shape(testDescription: "ordered", source: From<Worker>().where(\.age > 3).orderBy(.descending(\.age), .ascending(\.name))),
            Shape(testDescription: "window", source: From<Worker>().orderBy(.ascending(\.name)).offset(3).limit(10)),
            Shape(
                testDescription: "related", source: From<Worker>().where(\.team?.title != "t1").orderBy(.ascending(\.team?.title))),
            Shape(testDescription: "sections", source: From<Worker>().orderBy(.ascending(\.name)), section: SectionBy(\.age)),
            Shape(
                testDescription: "named sections", source: From<Worker>().orderBy(.ascending(\.name)),
                section: SectionBy(\.age) { "\($0 % 3)" }),
            Shape(testDescription: "teams", source: From<Worker>().chain, section: SectionBy(\.team?.title) { $0 ?? "none" }),
        ]
    }

    private static let commitCount = 60

    @Test(arguments: Backend.forObjectLayer, Shape.all) func everyChangeFitsAndTheLastStateIsThatOfAFetch(backend: Backend, shape: Shape)
        async throws
    {
        let seed = UInt64.random(in: 0..<1_000)
        var random = SplitMix64(run: seed)
        let workplace = try Workplace(backend)
        try workplace.stack.performAndWait { transaction throws in
            for number in 0..<3 { try transaction.create(Into<Team>()).title = "t\(number)" }
        }
        var updates =
            if let section = shape.section {
                CheckedUpdates(workplace.stack.changes(of: shape.source, sectionBy: section))
            } else { CheckedUpdates(workplace.stack.changes(of: shape.source)) }
        _ = try await updates.next()
        for number in 0..<Self.commitCount {
            try commit(workplace, seed: random.next())
            // A consumer that reads after several commits receives combined changes.
            guard number % 7 == 6 else { continue }
            try await settle(&updates, workplace, shape, "\(backend) \(shape.testDescription) seed \(seed), commit \(number)")
        }
        try await settle(&updates, workplace, shape, "\(backend) \(shape.testDescription) seed \(seed), at the end")
    }

    /// Reads changes until the state equals a fetch. If a change is missing, the time limit of the test ends this.
    private func settle(_ updates: inout CheckedUpdates<Worker>, _ workplace: Workplace, _ shape: Shape, _ what: String) async throws {
        let context = workplace.stack.newContext()
        let wanted: [ObjectSnapshot<Worker>]
        var names: [String]?
        if let section = shape.section {
            let list = try context.monitorSectionedList(shape.source, section)
            wanted = try context.fetchSnapshots(list.objectIDs)
            names = list.sections.map { "\($0.name) \($0.count)" }
        } else {
            wanted = try context.fetchSnapshots(context.fetchObjectIDs(shape.source))
        }
        func found() -> [String]? { updates.snapshot?.sections.map { "\($0.name) \($0.count)" } }
        // A change of a team's title changes only the names of sections.
        while updates.snapshot.map(Array.init) != wanted || names != nil && names != found() {
            guard try await updates.next() != nil else {
                Issue.record("\(what): the sequence has ended")
                return
            }
        }
    }

    private func commit(_ workplace: Workplace, seed: UInt64) throws {
        try workplace.stack.performAndWait { transaction throws in
            var random = SplitMix64(run: seed)
            let workers = try transaction.fetchAll(From<Worker>())
            let teams = try transaction.fetchAll(From<Team>())
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let worker = workers.randomElement(using: &random)
                switch Int.random(in: 0..<7, using: &random) {
                case 0, 1:
                    let new = try transaction.create(Into<Worker>())
                    (new.name, new.age) = ("n\(random.next() % 50)", Int.random(in: 0..<8, using: &random))
                case 2: if let worker, workers.count > 12, !worker.isDeleted { try transaction.delete(worker) }
                case 3: if let worker, !worker.isDeleted { worker.age = Int.random(in: 0..<8, using: &random) }
                case 4: if let worker, !worker.isDeleted { worker.name = "n\(random.next() % 50)" }
                case 5: if let worker, !worker.isDeleted { worker.team = teams.randomElement(using: &random) }
                default: if random.next() % 4 == 0 { teams.randomElement(using: &random)?.title = "t\(random.next() % 5)" }
                }
            }
        }
    }
}
