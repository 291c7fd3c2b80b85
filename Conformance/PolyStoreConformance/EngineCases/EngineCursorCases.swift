import PolyStoreBackend
import PolyStoreKeyValue

/// Cursor moves.
let engineCursorCases: [EngineCase] = [
    EngineCase(
        "engine.walk.every-key-in-order", "`next` visits every key in byte order, and `previous` in reverse."
    ) {
        run in
        for count in [1, 2, 25, 700] {
            let keys = count == 25 ? awkwardKeys : (0..<count).map { [UInt8($0 >> 8), UInt8($0 & 0xFF), 7] }
            let open = try run.open("\(count)")
            // In an order other than key order.
            for part in 0..<3 {
                try open.apply(keys.enumerated().filter { $0.offset % 3 == 2 - part }.map { EngineChange($0.element, $0.element) })
            }
            let expected = keys.map { EngineEntry(key: $0, value: $0) }
            try run.expect(try open.contents(), equals: expected, "\(count) keys forwards")
            let snapshot = try open.snapshot()
            defer { snapshot.end() }
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            var found: [EngineEntry] = []
            var more = try cursor.last()
            while more {
                found.append(cursor.entry)
                more = try cursor.previous()
            }
            try run.expect(found, equals: expected.reversed(), "\(count) keys backwards")
        }
    },
    EngineCase("engine.walk.turns-around", "`next` and `previous` can alternate in any order, from any key.") { run in
        let keys = awkwardKeys
        let open = try run.open(keys: keys)
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        // 1: next, −1: previous; each pattern from each key.
        let patterns = (0..<32).map { bits in (0..<5).map { bits >> $0 & 1 == 0 ? 1 : -1 } }
        for start in keys.indices {
            for pattern in patterns {
                try run.expect(try cursor.seek(keys[start]), "seek \(hex(keys[start]))")
                var position = start
                for step in pattern {
                    position += step
                    let isThere = step > 0 ? try cursor.next() : try cursor.previous()
                    try run.expect(isThere, equals: keys.indices.contains(position), "from \(hex(keys[start])) by \(pattern)")
                    // After the end only `seek` and `last` may follow.
                    guard isThere else { break }
                    try run.expect(hex(Bytes(cursor.key)), equals: hex(keys[position]), "from \(hex(keys[start])) by \(pattern)")
                }
            }
        }
    },
    EngineCase("engine.walk.ends", "At either end a move returns false, and `seek` and `last` still work.") { run in
        let open = try run.open(keys: [[1], [2]])
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        for _ in 0..<2 {
            try run.expect(try cursor.last() && Bytes(cursor.key) == [2], "last")
            try run.expect(try !cursor.next(), "next goes past the end")
            try run.expect(try cursor.seek([]) && Bytes(cursor.key) == [1], "seek after the end")
            try run.expect(try !cursor.previous(), "previous goes before the beginning")
            try run.expect(try cursor.seek([2]) && Bytes(cursor.key) == [2], "seek after the beginning")
            try run.expect(try cursor.previous() && Bytes(cursor.key) == [1], "previous")
            try run.expect(try !cursor.previous(), "previous goes before the beginning")
        }
    },
    EngineCase("engine.walk.several-cursors", "Cursors of one snapshot and `get` do not affect each other.") { run in
        let keys = (0..<50).map { [UInt8($0)] }
        let open = try run.open(keys: keys)
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        let cursors = try (0..<5).map { _ in try snapshot.cursor() }
        defer { for cursor in cursors { cursor.close() } }
        for (number, cursor) in cursors.enumerated() { try run.expect(try cursor.seek([UInt8(number * 5)]), "seek") }
        for step in 1...20 {
            for (number, cursor) in cursors.enumerated() {
                try run.expect(try cursor.next(), "next of cursor \(number)")
                _ = try snapshot[[UInt8(49 - step)]]
            }
            for (number, cursor) in cursors.enumerated() {
                try run.expect(Bytes(cursor.key), equals: [UInt8(number * 5 + step)], "cursor \(number) after \(step) steps")
            }
        }
    },
    EngineCase(
        "engine.walk.outlives-its-snapshot", "A cursor tolerates the end of its snapshot and of its engine; closing it later has no effect."
    ) {
        run in
        let open = try run.open(keys: [[1], [2], [3]])
        for closesFirst in [false, true] {
            var left: [EngineCursor] = []
            let snapshot = try open.snapshot()
            for _ in 0..<3 {
                let cursor = try snapshot.cursor()
                try run.expect(try cursor.seek([]), "seek")
                left.append(cursor)
            }
            if closesFirst { left[0].close() }
            snapshot.end()
            snapshot.end()
            // The cursor may throw, or continue with the entries of the snapshot.
            do {
                try run.expect(try left[1].next() ? [2] : nil, equals: Bytes(left[1].key), "next after the end of the snapshot")
            } catch is StoreError {}
            for cursor in left {
                cursor.close()
                cursor.close()
            }
        }
        try open.apply([EngineChange([4], [4])])
        let snapshot = try open.snapshot()
        let cursor = try snapshot.cursor()
        _ = try cursor.last()
        snapshot.end()
        open.close()
        cursor.close()
    },
]
