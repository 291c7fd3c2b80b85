import EngineTestSupport
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreKeyValue
@testable import PolyStoreLevelDB

/// Prefetched entries equal those read one by one, in both directions.
@Suite struct CursorTests {
    @Test(arguments: [UInt64(1), 2, 3]) func movesOfAnyKindAndLengthFindExistingEntries(seed: UInt64) throws {
        let folder = try Folder()
        try LevelDBFolder(storePath: StorePath(path: folder.file())).prepare(mode: 0o700)
        let engine = try LevelDBEngine(path: folder.file(), options: LevelDBOptions())
        defer { engine.close() }
        let writer = try OverlayTransaction(engine)
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        var keys: [[UInt8]] = []
        for number in 0..<600 where random(3) > 0 {
            let key = [UInt8(number >> 8), UInt8(number & 255), 1]
            keys.append(key)
            try writer.put(key, [UInt8](repeating: UInt8(number & 255), count: [0, 3, 300, 20_000][random(4)]))
        }
        try writer.commit(.relaxed)
        let snapshot = engine.snapshot()
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        var position = -1
        func expect(_ isThere: Bool, _ what: String) {
            #expect(isThere == keys.indices.contains(position), "\(what) to \(position) of \(keys.count)")
            guard isThere, keys.indices.contains(position) else { return }
            #expect([UInt8](cursor.key) == keys[position], "\(what)")
            #expect(cursor.value.allSatisfy { $0 == keys[position][1] }, "\(what)")
        }
        for _ in 0..<300 {
            if random(6) == 0 {
                position = keys.count - 1
                expect(try cursor.last(), "last")
            } else {
                position = random(keys.count)
                expect(try keys[position].withUnsafeBytes { try cursor.seek($0) }, "seek")
            }
            // Short and long scans, with changes of direction.
            for _ in 0..<random(4) {
                let isForward = random(3) > 0
                for _ in 0..<[1, 5, 12, 90][random(4)] where keys.indices.contains(position) {
                    position += isForward ? 1 : -1
                    expect(isForward ? try cursor.next() : try cursor.previous(), isForward ? "next" : "previous")
                }
            }
            guard keys.indices.contains(position), random(4) == 0 else { continue }
            let batch = EntryBatch(copied: 8)
            let count = try cursor.next(copyingInto: batch)
            #expect(count == min(EntryBatch.capacity, keys.count - 1 - position))
            for entry in 0..<count { #expect([UInt8](batch.key(entry)) == keys[position + 1 + entry]) }
        }
    }
}
