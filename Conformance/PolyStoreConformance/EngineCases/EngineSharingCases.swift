import PolyStoreBackend
import PolyStoreKeyValue

/// Engines that are opened several times.
let engineSharingCases: [EngineCase] = [
    EngineCase(
        "engine.sharing.one-place-is-one-engine",
        "A path that is opened twice is one engine: writes through one handle are visible through the other.",
        requires: [.persistence]
    ) { run in
        let first = try run.open()
        let second = try run.open()
        try first.apply([EngineChange([1], [1])])
        try run.expect(try second.contents().map(\.key), equals: [[1]], "the second open sees what the first wrote")
        try second.apply([EngineChange([2], [2])])
        try run.expect(try first.contents().map(\.key), equals: [[1], [2]], "the first open sees what the second wrote")
        try run.expect(first.engine === second.engine, "the path was opened twice; open it through EngineHandle.shared")
        // The first can be closed before the second.
        first.close()
        try second.apply([EngineChange([3], [3])])
        let third = try run.open()
        second.close()
        try run.expect(try third.contents().map(\.key), equals: [[1], [2], [3]], "a third open")
        third.close()
        try run.expect(try run.open().contents().map(\.key), equals: [[1], [2], [3]], "after all were closed")
    },
    EngineCase("engine.sharing.two-places-are-two-engines", "Engines at two paths are independent.") { run in
        let first = try run.open("first")
        let second = try run.open("second")
        try first.apply([EngineChange([1], [1])])
        try second.apply([EngineChange([1], [2]), EngineChange([2], [2])])
        try run.expect(try first.contents(), equals: [EngineEntry(key: [1], value: [1])], "the first")
        second.close()
        try run.expect(try first.contents(), equals: [EngineEntry(key: [1], value: [1])], "the first, after the second was closed")
    },
    EngineCase(
        "engine.sharing.opened-by-many-threads", "Threads that open, write and close one path concurrently lose no writes.",
        requires: [.persistence]
    ) { run in
        let writing = Protected((), .writeQueue)
        let threads = (0..<6 as Range<UInt8>).map { thread in
            OnThread {
                for round in 0..<6 as Range<UInt8> {
                    let open = try run.open()
                    // The contract allows one batch at a time.
                    try writing.withLock { _ in try open.apply([EngineChange([thread, round], [round])], .relaxed) }
                    let written = try open.contents().filter { $0.key[0] == thread }
                    try run.expect(written.map(\.key), equals: (0...round).map { [thread, $0] }, "thread \(thread) in round \(round)")
                    open.close()
                }
            }
        }
        for thread in threads { try thread.value() }
        try run.expect(try run.open().contents().count, equals: 36, "keys of all threads")
    },
]
