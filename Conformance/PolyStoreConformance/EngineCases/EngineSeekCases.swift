import PolyStoreBackend
import PolyStoreKeyValue

/// Keys that are difficult for engines: prefixes of each other, zero bytes, 0xFF, the maximum length.
let awkwardKeys: [Bytes] = [
    [0], [0, 0], [0, 1], [0, 0xFF], [1], [0x10, 0], [0x10, 7], [0x10, 7, 0], [0x10, 7, 1], [0x10, 8], [0x20], [0x7F], [0x7F, 0xFF], [0x80],
    [0x80, 0], [0xC3, 0x28], [0xFE, 0xFF], [0xFF], [0xFF, 0], [0xFF, 0xFF], Bytes(repeating: 0xFF, count: 3),
    Bytes(repeating: 0x41, count: KeyWriter.longestKey), Bytes(repeating: 0x41, count: KeyWriter.longestKey - 1),
    Bytes(repeating: 0x41, count: KeyWriter.longestKey - 1) + [0x42], Bytes(repeating: 0xFF, count: KeyWriter.longestKey),
].sorted { $0.lexicographicallyPrecedes($1) }

/// The positions that `seek` and `last` move to.
let engineSeekCases: [EngineCase] = [
    EngineCase("engine.traits.are-those-told", "The engine has the features and the transactions that its author declares.") { run in
        let open = try run.open()
        try run.expect(open.engine.traits.features.sorted(), equals: run.target.features.sorted(), "the features")
        try run.expect(open.engine is any TransactionalEngine, equals: run.target.isTransactional, "is a TransactionalEngine")
        try run.expect(!open.engine.traits.durabilities.isEmpty, "the engine has no durability")
        try run.expect(open.engine.traits.maximumPieceSize > 0 && open.engine.traits.maximumTransactionSize > 0, "a limit is not positive")
    },
    EngineCase("engine.seek.empty-key-goes-to-the-first-key", "`seek` of an empty key moves to the first key.") { run in
        for keys in [[[0]], [[0], [1]], [[0x10, 7], [0x20]], [[0xFF, 0xFF]], awkwardKeys] as [[Bytes]] {
            let open = try run.open("\(keys.count)-\(keys[0])")
            try open.apply(keys.map { EngineChange($0, [1]) })
            let snapshot = try open.snapshot()
            defer { snapshot.end() }
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            for start in [nil, UnsafeRawPointer(bitPattern: 64)] {
                // The address of an empty buffer may be nil.
                let empty = UnsafeRawBufferPointer(start: start, count: 0)
                try run.expect(try cursor.seek(empty), "seek of an empty key finds nothing among \(keys.count) keys")
                try run.expect(Bytes(cursor.key), equals: keys[0], "the key")
                // Again, from the end.
                _ = try cursor.last()
            }
        }
    },
    EngineCase("engine.seek.goes-to-the-first-key-not-below", "`seek` moves to the given key, or to the next greater one.") { run in
        let open = try run.open(keys: awkwardKeys)
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        // Each key, its neighbors, and keys between them.
        let wanted = awkwardKeys.flatMap { key -> [Bytes] in
            let shorter = Bytes(key.dropLast())
            return [key, key + [0], key + [0xFF], shorter, shorter + [0x40]]
        }
        for key in wanted where key.count <= KeyWriter.longestKey {
            let expected = awkwardKeys.first { !$0.lexicographicallyPrecedes(key) }
            let found = try cursor.seek(key) ? Bytes(cursor.key) : nil
            try run.expect(found.map(hex), equals: expected.map(hex), "seek \(hex(key))")
            let below = awkwardKeys.last { $0.lexicographicallyPrecedes(key) }
            let before = try cursor.seek(before: key) ? Bytes(cursor.key) : nil
            try run.expect(before.map(hex), equals: below.map(hex), "seek before \(hex(key))")
        }
    },
    EngineCase("engine.seek.past-the-end", "`seek` after the last key returns false, and `seek` and `last` still work.") { run in
        let open = try run.open(keys: [[1], [2], [3]])
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        for _ in 0..<2 {
            try run.expect(try !cursor.seek([3, 0]), "seek past the end is on a key")
            try run.expect(try cursor.seek([2]) && Bytes(cursor.key) == [2], "seek after the end")
            try run.expect(try !cursor.seek([9]), "seek past the end is on a key")
            try run.expect(try cursor.last() && Bytes(cursor.key) == [3], "last after the end")
        }
    },
    EngineCase("engine.last.is-the-last-key-of-all", "`last` moves to the last key, in whatever key range it is.") { run in
        let open = try run.open()
        // From low key ranges to high ones, then removed again.
        let keys: [Bytes] = [[0x10, 5], [0x10, 9], [0x20], [0x20, 0], [0x7F, 1], [0x80], [0xFF], [0xFF, 0xFF, 0xFF]]
        func expectLast(_ key: Bytes?) throws {
            let snapshot = try open.snapshot()
            defer { snapshot.end() }
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            try run.expect(try cursor.last() ? Bytes(cursor.key) : nil, equals: key, "last")
            _ = try cursor.seek([0x10])
            try run.expect(try cursor.last() ? Bytes(cursor.key) : nil, equals: key, "last after seek")
        }
        for key in keys {
            try open.apply([EngineChange(key, [1])])
            try expectLast(key)
        }
        for (position, key) in keys.enumerated().reversed() {
            try open.apply([EngineChange(key, nil)])
            try expectLast(position == 0 ? nil : keys[position - 1])
        }
    },
    EngineCase("engine.cursor.of-an-empty-engine", "An empty engine has no first key, no last key and no value.") { run in
        let open = try run.open()
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        for _ in 0..<2 {
            try run.expect(try !cursor.seek([]), "seek finds a key")
            try run.expect(try !cursor.last(), "last finds a key")
            try run.expect(try !cursor.seek([0xFF]), "seek finds a key")
        }
        try run.expect(try snapshot[[1]] == nil, "get finds a value")
    },
]
