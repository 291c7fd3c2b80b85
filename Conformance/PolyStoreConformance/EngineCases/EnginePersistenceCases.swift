import PolyStoreBackend
import PolyStoreKeyValue

/// The contents after reopening, and after failed writes.
let enginePersistenceCases: [EngineCase] = [
    EngineCase(
        "engine.persistence.keeps-everything", "After closing and reopening, every key and value is unchanged.",
        requires: [.persistence]
    ) { run in
        let largest = 70_000
        for durability in Durability.allCases {
            var open = try run.open("\(durability)")
            try open.apply(awkwardKeys.map { EngineChange($0, Bytes(repeating: 7, count: $0.count * 100 % largest)) }, durability)
            try open.apply(awkwardKeys.prefix(5).map { EngineChange($0, nil) }, durability)
            try open.apply([EngineChange([9], []), EngineChange([8], [1])], durability)
            let before = try open.contents()
            try run.expect(before.count, equals: awkwardKeys.count - 3, "keys")
            for _ in 0..<2 {
                open.close()
                open = try run.open("\(durability)")
                try run.expect(try open.contents() == before, "other contents after opening again, written with .\(durability)")
            }
            try run.expect(try open.engine.verify(), equals: [], "verify")
        }
    },
    EngineCase(
        "engine.persistence.again-and-again", "An engine that is repeatedly opened, changed and closed has every change.",
        requires: [.persistence]
    ) { run in
        var model: [Bytes: Bytes] = [:]
        for round in 0..<15 as Range<UInt8> {
            let open = try run.open()
            try run.expect(try open.contents(), equals: model.map { EngineEntry(key: $0, value: $1) }.sorted, "round \(round)")
            let changes = (0..<20 as Range<UInt8>).map { EngineChange([$0], ($0 + round) % 5 == 0 ? nil : [round, $0]) }
            try open.apply(changes, round % 2 == 0 ? open.strongest : .relaxed)
            for change in changes { model[change.key] = change.value }
            open.close()
        }
    },
    EngineCase(
        "engine.persistence.opening-writes-nothing",
        "An engine that was opened and closed without a batch is empty and can be reopened.",
        requires: [.persistence]
    ) { run in
        for _ in 0..<3 {
            let open = try run.open()
            try run.expect(try open.contents(), equals: [])
            open.close()
        }
        try run.open().apply([EngineChange([1], [1])])
        try run.expect(try run.open().contents().map(\.key), equals: [[1]])
    },
    EngineCase("engine.verify.finds-nothing", "`verify` finds nothing in a sound engine.") { run in
        let open = try run.open()
        try run.expect(try open.engine.verify(), equals: [], "in an empty engine")
        try open.apply((0..<200).map { EngineChange([$0], Bytes(repeating: $0, count: 300)) })
        try open.apply((0..<100).map { EngineChange([$0 * 2], nil) })
        try run.expect(try open.engine.verify(), equals: [])
    },
    EngineCase(
        "engine.failure.ends-writing",
        "After a failed `apply`, later ones throw until the engine is reopened; reads continue to work.",
        needs: .failingWrites
    ) { run in
        guard let setWritesFail = run.target.setWritesFail else { return }
        var open = try run.open()
        try open.apply([EngineChange([1], [1])])
        let engine = open.engine
        try setWritesFail(engine, true)
        let big = Bytes(repeating: 2, count: 5000)
        try expectThrows(run, "a write that fails") { try open.apply([EngineChange([1], nil), EngineChange([2], big)]) }
        try setWritesFail(engine, false)
        // The state after the first failure is unknown: no later write may succeed.
        for number in 3..<5 as Range<UInt8> {
            try expectThrows(run, "a write after one that failed") { try open.apply([EngineChange([number], [number])]) }
        }
        try run.expect(try open.contents(), equals: [EngineEntry(key: [1], value: [1])], "applied changes can still be read")
        open.close()
        open = try run.open()
        let found = try open.contents()
        // The failed batch was not acknowledged: it is present completely or not at all.
        let whole = [[EngineEntry(key: [1], value: [1])], [EngineEntry(key: [2], value: big)]]
        try run.expect(whole.contains(found), "after opening again: \(found)")
        try open.apply([EngineChange([9], [9])])
        try run.expect(try open.contents().count, equals: 2, "writing after opening again")
    },
]

private func expectThrows(_ run: EngineRun, _ what: String, _ body: () throws -> Void) throws {
    do { try body() } catch is StoreError { return }
    throw run.fail("\(what) was acknowledged")
}
