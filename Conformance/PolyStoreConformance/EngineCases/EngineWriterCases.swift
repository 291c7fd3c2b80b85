import PolyStoreBackend
import PolyStoreKeyValue

/// Engines with their own write transactions.
let engineWriterCases: [EngineCase] = [
    EngineCase("engine.writer.reads-its-own-writes", "A writer's `get` and cursors see its puts and removals.", needs: .writer) {
        run in
        let open = try run.open(keys: [[1], [2], [3]])
        try write(open) { writer in
            try writer.put([2], [20])
            try writer.remove([3])
            try writer.put([4], [])
            try run.expect(try writer[[1]], equals: [1], "an old value")
            try run.expect(try writer[[2]], equals: [20], "a new value")
            try run.expect(try writer[[3]] == nil, "a removed key has a value")
            try run.expect(try writer[[4]], equals: [], "an empty value")
            try run.expect(try writer.contents().map(\.key), equals: [[1], [2], [4]], "a walk")
            // A cursor that was opened before a write is moved before it is read again, and sees the state before or after the write.
            let early = try writer.inner.cursor()
            defer { early.close() }
            try run.expect(try early.seek([]), "seek")
            try writer.put([0], [0])
            try writer.remove([2])
            try run.expect(try early.seek([]) && [[0], [1]].contains(Bytes(early.key)), "the first key of an older cursor")
            try run.expect(try early.last() && Bytes(early.key) == [4], "the last key of an older cursor")
            let cursor = try writer.inner.cursor()
            defer { cursor.close() }
            try run.expect(try cursor.seek([]) && Bytes(cursor.key) == [0], "the first key after a write")
            try run.expect(try cursor.seek([2]) && Bytes(cursor.key) == [4], "the key after a removed one")
            try run.expect(try cursor.last() && Bytes(cursor.key) == [4], "the last key after a write")
        }
        try run.expect(try open.contents().map(\.key), equals: [[0], [1], [4]], "after the commit")
    },
    EngineCase("engine.writer.end-undoes", "A writer that ends without a commit has no effect.", needs: .writer) { run in
        let open = try run.open(keys: [[1], [2]])
        let before = try open.contents()
        for _ in 0..<3 {
            try write(open, commits: false) { writer in
                try writer.put([3], Bytes(repeating: 3, count: 10_000))
                try writer.put([1], [9])
                try writer.remove([2])
            }
            try run.expect(try open.contents(), equals: before)
        }
        try write(open) { try $0.put([3], [3]) }
        try run.expect(try open.contents().map(\.key), equals: [[1], [2], [3]], "writing continues")
    },
    EngineCase(
        "engine.writer.ended-is-closed", "`get` and `cursor` of a writer that has ended or committed throw closed.", needs: .writer
    ) { run in
        let open = try run.open(keys: [[1], [2]])
        for commits in [false, true] {
            var left: TestWriter?
            try write(open, commits: commits) { writer in
                try writer.put([1], [7])
                left = writer
            }
            try run.expectError(.closed, "get, committed: \(commits)") { try left?[[1]] }
            try run.expectError(.closed, "cursor, committed: \(commits)") { try left?.inner.cursor() }
            left?.inner.end()
        }
        try run.expect(try open.contents(), equals: [EngineEntry(key: [1], value: [7]), EngineEntry(key: [2], value: [1])])
    },
    EngineCase(
        "engine.writer.is-invisible-until-commit", "Snapshots do not wait for an open writer and do not see its changes.",
        needs: .writer
    ) { run in
        let open = try run.open(keys: [[1], [2]])
        let before = try open.contents()
        let early = try open.snapshot()
        defer { early.end() }
        try write(open) { writer in
            try writer.put([3], [3])
            try writer.remove([1])
            try run.expect(try OnThread { try open.contents() }.value(), equals: before, "on another thread, beside an open writer")
            try run.expect(try early.contents(), equals: before, "an older snapshot, beside an open writer")
        }
        try run.expect(try early.contents(), equals: before, "an older snapshot, after the commit")
        try run.expect(try open.contents().map(\.key), equals: [[2], [3]], "a new snapshot, after the commit")
    },
    EngineCase(
        "engine.writer.one-at-a-time", "A second writer begins after the first has ended, and sees what it committed.", needs: .writer
    ) {
        run in
        let open = try run.open()
        let writing = Protected((), .writeQueue)
        let threads = (0..<4).map { _ in
            OnThread {
                for _ in 0..<10 {
                    // The record layer lets one writer begin at a time.
                    try writing.withLock { _ in
                        try write(open, .relaxed) { writer in
                            let count = try writer[[1]]?.first ?? 0
                            try writer.put([1], [count + 1])
                        }
                    }
                }
            }
        }
        for thread in threads { try thread.value() }
        try run.expect(try open.contents(), equals: [EngineEntry(key: [1], value: [40])], "a counter that 40 writers raised")
    },
]

/// A writer with convenience methods for cases.
private final class TestWriter {
    let inner: any EngineWriter
    init(_ inner: any EngineWriter) { self.inner = inner }

    subscript(_ key: Bytes) -> Bytes? { get throws { try TestSnapshot(inner)[key] } }
    func contents() throws -> [EngineEntry] { try TestSnapshot(inner).contents() }
    func put(_ key: Bytes, _ value: Bytes) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try inner.put(key, $0) } }
    }
    func remove(_ key: Bytes) throws { try key.withUnsafeBytes { try inner.remove($0) } }
}

/// Runs one write transaction of the engine.
private func write(
    _ open: OpenEngine, _ durability: Durability? = nil, commits: Bool = true, _ body: (TestWriter) throws -> Void
) throws {
    guard let engine = open.engine as? any TransactionalEngine else { return }
    let writer = try engine.beginWrite()
    defer { writer.end() }
    try body(TestWriter(writer))
    if commits { try writer.commit(durability ?? open.strongest) }
}
