import ConformanceTargets
import PolyStoreKeyValue
import PolyStoreMemory

/// An in-memory engine, and batches of ten keys for it.
enum FaultPlanTarget {
    static func handle() throws -> EngineHandle { .memory() }

    static func batch(_ number: UInt8) -> WriteBatch {
        var tree = OrderedTree()
        for key in 0..<10 as Range<UInt8> { [number, key].withUnsafeBytes { tree.set($0, $0) } }
        return WriteBatch(tree)
    }

    static func count(_ engine: any OrderedEngine) throws -> Int {
        let snapshot = try engine.snapshot()
        defer { snapshot.end() }
        let cursor = try snapshot.cursor()
        defer { cursor.close() }
        var (count, more) = (0, try [UInt8]().withUnsafeBytes { try cursor.seek($0) })
        while more {
            count += 1
            more = try cursor.next()
        }
        return count
    }
}
