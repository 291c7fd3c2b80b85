import PolyStoreBackend
import PolyStoreKeyValue

/// Batches.
let engineWriteCases: [EngineCase] = [
    EngineCase("engine.remove.takes-one-key", "Removing a key removes only that key, not those with it as a prefix, nor its neighbors.") {
        run in
        let keys: [Bytes] = [[1], [1, 0], [1, 0, 0], [1, 1], [1, 0xFF], [2], [2, 0]] + awkwardKeys.filter { $0[0] > 2 }
        for removed in keys {
            let open = try run.open(hex(removed))
            try open.apply(keys.map { EngineChange($0, [5]) })
            try open.apply([EngineChange(removed, nil)])
            try run.expect(
                try open.contents().map { hex($0.key) }, equals: keys.filter { $0 != removed }.map(hex), "after removing \(hex(removed))")
            let snapshot = try open.snapshot()
            defer { snapshot.end() }
            for key in keys { try run.expect(try snapshot[key] == nil, equals: key == removed, "get \(hex(key))") }
        }
    },
    EngineCase("engine.remove.absent-key", "Removing a missing key has no effect and is not an error.") { run in
        let open = try run.open(keys: [[1, 1], [3]])
        for key in [[1], [1, 0], [1, 1, 0], [2], [3, 0], [0xFF]] as [Bytes] {
            try open.apply([EngineChange(key, nil)])
            try run.expect(try open.contents().map(\.key), equals: [[1, 1], [3]], "after removing \(hex(key))")
        }
        try open.apply([EngineChange([1], nil), EngineChange([2], [2]), EngineChange([9], nil)])
        try run.expect(try open.contents().map(\.key), equals: [[1, 1], [2], [3]])
        try open.apply(try open.contents().map { EngineChange($0.key, nil) })
        try open.apply([EngineChange([1], nil)])
        try run.expect(try open.contents(), equals: [])
    },
    EngineCase("engine.batch.sets-and-removes", "A batch sets and removes any number of keys, and a later batch overrides an earlier one.")
    { run in
        let open = try run.open()
        var model: [Bytes: Bytes] = [:]
        for round in 0..<12 {
            let changes = (0..<200).filter { ($0 + round) % 3 != 0 }.map { number in
                EngineChange(
                    [UInt8(number / 20), UInt8(number % 20)], (number + round) % 4 == 0 ? nil : [UInt8(round), UInt8(number)])
            }
            try open.apply(changes)
            for change in changes { model[change.key] = change.value }
            try run.expect(try open.contents(), equals: model.map { EngineEntry(key: $0, value: $1) }.sorted, "round \(round)")
        }
        try open.apply([])
        try run.expect(try open.contents().count, equals: model.count, "after an empty batch")
    },
    EngineCase("engine.batch.of-many-keys", "A batch of 20,000 keys is written completely.") { run in
        let open = try run.open()
        func key(_ number: Int) -> Bytes { [UInt8(number >> 16), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }
        try open.apply((0..<20_000).map { EngineChange(key($0), key($0) + key($0)) })
        let found = try open.contents()
        try run.expect(found.count, equals: 20_000, "keys")
        for (number, entry) in found.enumerated() where entry != EngineEntry(key: key(number), value: key(number) + key(number)) {
            throw run.fail("key \(number) is \(entry)")
        }
        try open.apply((0..<20_000).filter { $0 % 2 == 0 }.map { EngineChange(key($0), nil) })
        try run.expect(try open.contents().map(\.key), equals: (0..<10_000).map { key($0 * 2 + 1) }, "after removing half")
    },
    EngineCase("engine.batch.thousands", "Each of 1,200 batches is applied.") { run in
        let open = try run.open()
        var model: [Bytes: Bytes] = [:]
        for number in 0..<1200 {
            let (key, value) = ([UInt8(number % 50)] as Bytes, [UInt8(number >> 8), UInt8(number & 0xFF)] as Bytes)
            try open.apply([EngineChange(key, value)], .relaxed)
            model[key] = value
            // The last batch of each key hides the others.
            let snapshot = try open.snapshot()
            defer { snapshot.end() }
            try run.expect(try snapshot[key], equals: value, "after batch \(number)")
        }
        try run.expect(try open.contents(), equals: model.map { EngineEntry(key: $0, value: $1) }.sorted)
    },
    EngineCase("engine.batch.big-is-all-or-nothing", "A snapshot that is created during the write of 1 MiB sees none of it.") { run in
        let open = try run.open()
        let keys = (0..<1024).map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] as Bytes }
        for number in 1...2 as ClosedRange<UInt8> {
            let before = try open.contents().map(\.value.first)
            var batch = open.batch(keys.map { EngineChange($0, Bytes(repeating: number, count: 1024)) })
            let seen = Protected<[Result<[UInt8?], any Error>]>([])
            batch.whileVisited = {
                let found = Result { try OnThread { try open.contents().map(\.value.first) }.value() }
                seen.withLock { $0.append(found) }
            }
            try open.engine.apply(batch, .relaxed)
            for found in seen.withLock({ $0 }) { try run.expect(try found.get() == before, "a snapshot shows a part of batch \(number)") }
            try run.expect(try open.contents().map(\.value.first) == keys.map { _ in number }, "after batch \(number)")
        }
    },
    EngineCase(
        "engine.batch.all-or-nothing", "A snapshot sees all of a batch or none of it, also if it is created during the write."
    ) { run in
        let open = try run.open()
        let keys = (0..<30).map { [UInt8($0), 1] as Bytes }
        try open.apply(keys.map { EngineChange($0, [0]) })
        let isOver = Protected(false)
        let readers = (0..<3).map { _ in
            OnThread {
                var last: UInt8 = 0
                while !isOver.withLock({ $0 }) {
                    let found = try open.contents()
                    try run.expect(found.map(\.key) == keys, "a snapshot has \(found.count) of 30 keys")
                    try run.expect(Set(found.map(\.value)).count, equals: 1, "values of several batches in one snapshot")
                    try run.expect(found[0].value[0] >= last, "batch \(found[0].value[0]) after \(last)")
                    last = found[0].value[0]
                }
            }
        }
        let writer = Result {
            for number in 1...60 as ClosedRange<UInt8> {
                // A snapshot during the batch, for engines that read the batch while they write.
                var batch = open.batch(keys.map { EngineChange($0, [number]) })
                let seen = Protected<[Result<[EngineEntry], any Error>]>([])
                if number % 10 == 0 {
                    batch.whileVisited = {
                        let found = Result { try OnThread { try open.contents() }.value() }
                        seen.withLock { $0.append(found) }
                    }
                }
                try open.engine.apply(batch, .relaxed)
                for found in seen.withLock({ $0 }) {
                    try run.expect(Set(try found.get().map(\.value)), equals: [[number - 1]], "in the middle of batch \(number)")
                }
                try run.expect(Set(try open.contents().map(\.value)), equals: [[number]], "after batch \(number)")
            }
        }
        isOver.withLock { $0 = true }
        for reader in readers { try reader.value() }
        try writer.get()
    },
]
