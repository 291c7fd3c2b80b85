import PolyStore
import PolyStoreBackend
import PolyStoreRuns
import SeededRandom
import Testing

@testable import PolyStoreKernel
@testable import PolyStoreObservation

/// Changes that are queued for a consumer that does not read.
@Suite struct HandoffTests {
    private let handoff = Handoff<ListStep>()
    private let shape: SnapshotShape

    init() throws {
        let workplace = try Workplace(.memory)
        shape = SnapshotShape(table: workplace.stack.core.table.withLock { $0 }, fields: nil, logger: SilentLogger())
    }

    private func contents(_ rows: ClosedRange<Int>) -> ListContents {
        let rows = rows.map { SnapshotRow(row: RowReference(entityIndex: 0, rowID: Int64($0)), record: [UInt8($0 % 256)]) }
        return ListContents(shape: shape, isSectioned: false, sections: [("", rows.count)], rows: SnapshotRows(rows))
    }

    @Test func bufferedChangesAreBounded() async throws {
        var state = contents(1...3)
        handoff.update { $0 = ListStep(state, nil) }
        let seen = try #require(try await handoff.next()).contents
        // Each change shifts the list by one row: most rows are inserted and deleted again before the consumer reads.
        for number in 2...1_000 {
            let next = contents(number...number + 2)
            handoff.add(next, next.delta(from: state))
            state = next
        }
        let step = try #require(try await handoff.next())
        #expect(step.touched.count == 3 && step.contents == state)
        let delta = step.change(from: seen)
        #expect(delta.deleted.count == 3 && delta.inserted.count == 3 && delta.moved.isEmpty && delta.updated.isEmpty)
    }

    @Test func oneChangeIsPassedOnAsItIs() async throws {
        let (old, new) = (contents(1...3), contents(2...5))
        handoff.add(new, new.delta(from: old))
        let step = try #require(try await handoff.next())
        #expect(step.delta?.deleted.count == 1 && step.delta?.inserted.count == 2)
    }

    @Test func bufferedUpdatesAreDeliveredBeforeTheEnd() async throws {
        handoff.update { $0 = ListStep(contents(1...1), nil) }
        handoff.finish(throwing: StoreError(.closed, "The store is closed."))
        handoff.update { _ in Issue.record("nothing is taken after the end") }
        #expect(try await handoff.next() != nil)
        await #expect(throws: StoreError.self) { try await handoff.next() }
        #expect(try await handoff.next() == nil)
    }

    @Test func aChangeThatDoesNotFitIsRefused() {
        let (old, new, other) = (contents(1...3), contents(2...5), contents(7...9))
        let delta = new.delta(from: old)
        #expect(old.applying(delta, shape: shape) { row, _, _ in [UInt8(row.rowID)] } == new)
        #expect(other.applying(delta, shape: shape) { row, _, _ in [UInt8(row.rowID)] } == nil)
        #expect(contents(1...1).applying(delta, shape: shape) { _, _, _ in [] } == nil)
    }

    @Test(arguments: 0..<20) func applyingADeltaGivesTheNewContents(seed: UInt64) {
        var random = SplitMix64(run: seed)
        for _ in 0..<100 {
            let (old, new) = (contents(&random), contents(&random))
            let delta = new.delta(from: old)
            let applied = old.applying(delta, shape: shape) { row, position, _ in
                let index = new.index(position)
                return index.map { new.rows[$0].record } ?? []
            }
            #expect(applied == new, "seed \(seed)")
        }
    }

    private func contents(_ random: inout SplitMix64) -> ListContents {
        let names = ["a", "b", "c", "d"].shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
        let ids = (1...20).shuffled(using: &random).prefix(Int.random(in: 0...20, using: &random))
        let cuts = (0..<names.count - 1).map { _ in Int.random(in: 0...ids.count, using: &random) }.sorted() + [ids.count]
        var start = 0
        let sections = zip(names, cuts).map { name, end in
            defer { start = end }
            return (name: name, count: end - start)
        }
        let rows = ids.map { id in
            SnapshotRow(row: RowReference(entityIndex: 0, rowID: Int64(id)), record: [UInt8.random(in: 0...1, using: &random)])
        }
        return ListContents(shape: shape, isSectioned: true, sections: sections, rows: SnapshotRows(rows))
    }

    /// The stores that an element refers to take locks when they are released.
    @Test func elementsAreReleasedAfterTheLock() {
        final class Element: Sendable {
            let lock: Lock
            let released: Protected<Int>

            init(_ lock: Lock, _ released: Protected<Int>) { (self.lock, self.released) = (lock, released) }

            deinit { lock.withLock { released.withLock { $0 += 1 } } }
        }
        let (lock, released) = (Lock(.backend), Protected(0))
        let handoff = Handoff<Element>()
        handoff.replace(with: Element(lock, released))
        handoff.replace(with: Element(lock, released))
        #expect(released.withLock { $0 } == 1)
        handoff.discard()
        #expect(released.withLock { $0 } == 2)
    }
}
