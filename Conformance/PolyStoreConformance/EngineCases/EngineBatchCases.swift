import PolyStoreBackend
import PolyStoreKeyValue

/// Reading many entries per call.
let engineBatchCases: [EngineCase] = [
    EngineCase("engine.entries.at-once-agree-with-next", "`next(into:)` returns the same entries as `next`, and stops only at the end.") {
        run in
        try expectBatchesAgree(run, copies: false)
    },
    EngineCase(
        "engine.entries.copied-agree-with-next",
        "`next(copyingInto:)` returns the same entries as `next`: complete counts, the first bytes of keys and values."
    ) { run in try expectBatchesAgree(run, copies: true) },
]

private func expectBatchesAgree(_ run: EngineRun, copies: Bool) throws {
    let copied = 24
    for count in [0, 1, 127, 128, 129, 130, 300] {
        let open = try run.open("\(count)")
        let entries = (0..<count).map { number in
            EngineEntry(
                key: [UInt8(number >> 8), UInt8(number & 0xFF)] + Bytes(repeating: 3, count: number % 30),
                value: Bytes(repeating: UInt8(number & 0xFF), count: number * 7 % 60))
        }
        if count > 0 { try open.apply(entries.map { EngineChange($0.key, $0.value) }) }
        let snapshot = try open.snapshot()
        defer { snapshot.end() }
        for start in [0, 1, count / 2, count - 2, count - 1] where entries.indices.contains(start) {
            let cursor = try snapshot.cursor()
            defer { cursor.close() }
            try run.expect(try cursor.seek(entries[start].key), "seek")
            var position = start
            while true {
                let batch = EntryBatch(copied: copies ? copied : 0)
                guard let found = copies ? try cursor.next(copyingInto: batch) : try cursor.next(into: batch) else {
                    // The engine does not support batches, and the cursor has not moved.
                    try run.expect(cursor.entry, equals: entries[position], "the cursor moved although it does not support batches")
                    break
                }
                let expected = entries[(position + 1)...].prefix(EntryBatch.capacity)
                try run.expect(found, equals: expected.count, "entries after \(position) of \(count)")
                for (offset, entry) in expected.enumerated() {
                    let (key, value) = (batch.key(offset), batch.value(offset))
                    try run.expect(
                        [key.count, value.count], equals: [entry.key.count, entry.value.count], "sizes at \(offset) of \(count)")
                    let (keyBytes, valueBytes) = copies ? (min(key.count, 16), min(value.count, copied)) : (key.count, value.count)
                    try run.expect(Bytes(key.prefix(keyBytes)), equals: Bytes(entry.key.prefix(keyBytes)), "key \(offset)")
                    try run.expect(Bytes(value.prefix(valueBytes)), equals: Bytes(entry.value.prefix(valueBytes)), "value \(offset)")
                }
                position += found
                if found < EntryBatch.capacity { break }
            }
        }
    }
}
