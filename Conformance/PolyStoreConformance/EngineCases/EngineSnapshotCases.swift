import PolyStoreBackend
import PolyStoreKeyValue
import SeededRandom

/// The visibility of writes in snapshots, and blocking.
let engineSnapshotCases: [EngineCase] = [
    EngineCase(
        "engine.snapshot.is-taken-at-once",
        "A snapshot shows the state at its creation, even if nothing was read before the next write."
    ) { run in
        let open = try run.open(keys: [[1], [2], [3]])
        let before = try open.contents()
        let snapshots = try (0..<3).map { _ in try open.snapshot() }
        defer { for snapshot in snapshots { snapshot.end() } }
        let early = try snapshots[2].cursor()
        defer { early.close() }
        try open.apply([EngineChange([0], [0]), EngineChange([2], nil), EngineChange([3], [9]), EngineChange([4], [4])])
        // The first starts with a value, the second with a cursor, and the third had an unpositioned cursor.
        try run.expect(try snapshots[0][[3]], equals: [1], "get from an earlier snapshot")
        try run.expect(try snapshots[0][[2]], equals: [1], "get of a removed key from an earlier snapshot")
        try run.expect(try snapshots[0][[4]] == nil, "an earlier snapshot has a later key")
        try run.expect(try snapshots[1].contents(), equals: before, "a cursor in an earlier snapshot")
        try run.expect(try early.seek([]) ? early.entry : nil, equals: before[0], "an earlier cursor")
        try run.expect(try early.last() ? early.entry : nil, equals: before[2], "an earlier cursor")
        for snapshot in snapshots { try run.expect(try snapshot.contents(), equals: before, "a second walk") }
    },
    EngineCase("engine.snapshot.sees-what-was-applied", "A snapshot sees every batch that was applied before it, on any thread.") {
        run in
        let open = try run.open()
        for number in 0..<30 as Range<UInt8> {
            if number % 2 == 0 {
                try open.apply([EngineChange([number], [number])], .relaxed)
            } else {
                try OnThread { try open.apply([EngineChange([number], [number])], .relaxed) }.value()
            }
            let expected = (0...number).map { EngineEntry(key: [$0], value: [$0]) }
            try run.expect(try open.contents(), equals: expected, "on this thread")
            try run.expect(try OnThread { try open.contents() }.value(), equals: expected, "on another thread")
        }
    },
    EngineCase("engine.snapshot.many-versions", "Any number of snapshots of different versions can be open, and end in any order.") { run in
        let open = try run.open()
        var snapshots: [(TestSnapshot, [EngineEntry])] = []
        for number in 0..<24 as Range<UInt8> {
            try open.apply(
                [EngineChange([number], [number]), EngineChange([number / 2], [99, number]), EngineChange([number / 3], nil)], .relaxed)
            snapshots.append((try open.snapshot(), try open.contents()))
        }
        var random = SplitMix64(seed: 24)
        while !snapshots.isEmpty {
            let (snapshot, expected) = snapshots.remove(at: random.below(snapshots.count))
            try run.expect(try snapshot.contents(), equals: expected, "of \(snapshots.count + 1) open snapshots")
            snapshot.end()
            try open.apply([EngineChange([200], [UInt8(snapshots.count)])], .relaxed)
        }
    },
    EngineCase(
        "engine.snapshot.does-not-wait-for-a-writer",
        "A snapshot can be created and read during a write, and does not show it."
    ) {
        run in
        let open = try run.open(keys: [[1], [2]])
        let before = try open.contents()
        var batch = open.batch([EngineChange([1], nil), EngineChange([3], [3])])
        let seen = Protected<Result<[EngineEntry], any Error>?>(nil)
        // The other thread reads while the engine applies the batch.
        batch.whileVisited = {
            let found = Result { try OnThread { try open.contents() }.value() }
            seen.withLock { $0 = found }
        }
        try open.engine.apply(batch, open.strongest)
        try run.expect(try seen.withLock { $0 }?.get(), equals: before, "while a batch is applied")
        try run.expect(try open.contents().map(\.key), equals: [[2], [3]], "afterwards")
    },
    EngineCase(
        "engine.writer.does-not-wait-for-a-snapshot", "A batch can be applied while snapshots and cursors are open, which do not see it."
    ) {
        run in
        let open = try run.open(keys: [[1], [2], [3]])
        let before = try open.contents()
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        try run.expect(try cursor.seek([2]), "seek")
        for number in 10..<20 as Range<UInt8> {
            try OnThread { try open.apply([EngineChange([number], [number]), EngineChange([number - 9], nil)]) }.value()
        }
        try run.expect(try cursor.next() ? cursor.entry : nil, equals: before[2], "the cursor continues")
        try run.expect(try snapshot.contents(), equals: before, "the snapshot")
        try run.expect(try open.contents().map(\.key), equals: [[11], [12], [13], [14], [15], [16], [17], [18], [19]], "the engine")
    },
    EngineCase(
        "engine.snapshot.ended-is-closed",
        "`get` and `cursor` of an ended snapshot throw closed, also after a write; a second end has no effect."
    ) { run in
        let open = try run.open(keys: [[1], [2]])
        for isRead in [false, true] {
            let snapshot = try open.snapshot()
            if isRead { try run.expect(try snapshot[[1]], equals: [1], "get before the end") }
            snapshot.end()
            for round in 0..<2 {
                for key in [[1], [3]] as [Bytes] { try run.expectError(.closed, "get, round \(round)") { try snapshot[key] } }
                try run.expectError(.closed, "cursor, round \(round)") { try snapshot.cursor() }
                try open.apply([EngineChange([3], [UInt8(round)]), EngineChange([2], nil)])
                snapshot.end()
            }
        }
        try run.expect(try open.contents().map(\.key), equals: [[1], [3]], "the engine")
    },
    EngineCase("engine.snapshot.goes-to-other-threads", "A snapshot can be read and ended on another thread.") { run in
        let open = try run.open(keys: awkwardKeys)
        for _ in 0..<4 {
            let snapshot = Unchecked(try open.snapshot())
            let found = try OnThread { try snapshot.value.contents().map(\.key) }.value()
            try run.expect(found == awkwardKeys, "another thread reads other keys")
            try OnThread { snapshot.value.end() }.value()
        }
        try open.apply([EngineChange([1], [1])])
    },
]

/// Carries a value that a case deliberately passes between threads.
struct Unchecked<Value>: @unchecked Sendable {  // the case ensures that one thread at a time uses it
    let value: Value
    init(_ value: Value) { self.value = value }
}
