import PolyStoreBackend
import PolyStoreKeyValue

/// Keys and values of every kind, and the validity of values that `get` returns.
let engineValueCases: [EngineCase] = [
    EngineCase(
        "engine.value.of-any-size", "Values of 0 bytes to slightly above maximumPieceSize are unchanged, by `get` and by a cursor."
    ) {
        run in
        let open = try run.open()
        let largest = min(open.engine.traits.maximumPieceSize, 1 << 20)
        let sizes = [0, 1, 2, 15, 16, 255, 256, 1023, 1024, 2000, 4095, 4096, largest - 1, largest, largest + 32].filter {
            $0 <= largest + 32
        }
        let entries = sizes.enumerated().map { number, size in
            EngineEntry(key: [UInt8(number)], value: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
        }
        for entry in entries { try open.apply([EngineChange(entry.key, entry.value)]) }
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        for entry in entries { try run.expect(try snapshot[entry.key] == entry.value, "get of \(entry.value.count) bytes") }
        try run.expect(try snapshot.contents() == entries, "the cursor returns other values")
        // Each value changes its size.
        try open.apply(zip(entries, entries.reversed()).map { EngineChange($0.key, $1.value) })
        try run.expect(
            try open.contents() == zip(entries, entries.reversed()).map { EngineEntry(key: $0.key, value: $1.value) }, "after overwriting")
    },
    EngineCase("engine.key.of-any-bytes", "Keys of 1 byte to the maximum length, with any bytes, are distinct, and `get` finds each.") {
        run in
        let open = try run.open()
        try open.apply(awkwardKeys.enumerated().map { EngineChange($1, [UInt8($0)]) })
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        for (number, key) in awkwardKeys.enumerated() {
            try run.expect(try snapshot[key], equals: [UInt8(number)], "get \(hex(key))")
            for other in [key + [0], key + [0xFF], Array(key.dropLast())] where 1...KeyWriter.longestKey ~= other.count {
                try run.expect(try snapshot[other] != nil, equals: awkwardKeys.contains(other), "get \(hex(other))")
            }
        }
    },
    EngineCase(
        "engine.get.is-valid-until-the-next", "A value from `get` stays valid until the next `get`, whatever else happens."
    ) { run in
        let open = try run.open()
        try open.apply((0..<40).map { EngineChange([$0], Bytes(repeating: $0, count: 3000)) })
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        try [UInt8(7)].withUnsafeBytes { key in
            guard let value = try snapshot.inner.get(key) else { throw run.fail("get finds nothing") }
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            var more = try cursor.seek([])
            while more { more = try cursor.next() }
            let other = try open.snapshot()
            _ = try other[[9]]
            other.end()
            try open.apply([EngineChange([7], [1, 2, 3])])
            try run.expect(Bytes(value) == Bytes(repeating: 7, count: 3000), "the value changed under its reader")
        }
    },
    EngineCase("engine.get.finds-every-key", "`get` and `seek` find each of 8,192 keys, also after reopening.") { run in
        func key(_ number: Int) -> Bytes { [7, UInt8(number >> 8), UInt8(number & 0xFF)] }
        var open = try run.open()
        try open.apply((0..<8192).map { EngineChange(key($0), [UInt8($0 & 0xFF), UInt8($0 >> 8)]) })
        for round in 0..<(run.target.features.contains(.persistence) ? 2 : 1) {
            if round == 1 {
                open.close()
                open = try run.open()
            }
            let snapshot = try open.snapshot()
            defer { snapshot.end() }
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            var missed: [Int] = []
            for number in 0..<8192 {
                let value: Bytes = [UInt8(number & 0xFF), UInt8(number >> 8)]
                if try snapshot[key(number)] != value { missed.append(number) }
                try run.expect(
                    try cursor.seek(key(number)) ? cursor.entry : nil, equals: EngineEntry(key: key(number), value: value), "seek")
            }
            try run.expect(missed, equals: [], "keys that get does not find, round \(round)")
            for absent in [[7], [7, 32, 0], [7, 0, 0, 0], [6, 0, 0], [8]] as [Bytes] {
                try run.expect(try snapshot[absent], equals: nil, "get \(hex(absent))")
            }
        }
    },
    EngineCase("engine.get.values-stay-where-claimed", "With `valuesStay`, all values from `get` stay valid until the snapshot ends.") {
        run in
        let open = try run.open()
        try open.apply((0..<60).map { EngineChange([$0], Bytes(repeating: $0, count: 500 + Int($0))) })
        guard open.engine.traits.valuesStay else { return }
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        var got: [UnsafeRawBufferPointer] = []
        for number in 0..<60 as Range<UInt8> {
            try [number].withUnsafeBytes { key in
                guard let value = try snapshot.inner.get(key) else { throw run.fail("get finds nothing") }
                got.append(value)
            }
        }
        try open.apply((0..<60).map { EngineChange([$0], nil) })
        try open.apply((100..<160).map { EngineChange([$0], Bytes(repeating: $0, count: 500)) })
        for (number, value) in got.enumerated() {
            try run.expect(Bytes(value) == Bytes(repeating: UInt8(number), count: 500 + number), "value \(number) did not stay")
        }
    },
]
