import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import SmallStores
import TestModels

/// A violated expectation, with its description.
struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws { if !condition { throw Wrong(message()) } }

func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

func fail(_ text: String, code: Int32 = 1) -> Never {
    FileHandle.standardError.write(Data("stress-child: \(text)\n".utf8))
    exit(code)
}

/// Stores of one engine in a folder.
struct Engine: Sendable {
    let name: String
    let folder: String
    /// The initial map size of LMDB. A small map grows while readers are active, but a reader that waits for a writer blocks its growth.
    var mapSize = 1 << 20

    func store(_ number: Int) throws -> StoreConfiguration {
        let path = "\(folder)/store\(number).\(name)"
        guard let found = SmallStores.configuration(name, path, mapSize: mapSize) else {
            throw Wrong("unknown engine \(name): \(SmallStores.engines.joined(separator: ", "))")
        }
        return found
    }

    var isPersistent: Bool { name != "memory" }

    static let schema = Schema(
        "Stress", [Tally.self, Entry.self], configurations: ["A": [Tally.self, Entry.self], "B": [Tally.self, Entry.self]])

    func stack(_ configurations: [String?]) throws -> DataStack {
        let stack = try DataStack(Self.schema, logger: Complaints())
        for (number, name) in configurations.enumerated() { try stack.addStore(store(number), configuration: name) }
        return stack
    }
}

/// Ends the program on any message of the stack except one: with this many readers, there is always one that keeps SQLite from restarting its write-ahead log.
struct Complaints: StoreLogger {
    func isEnabled(_ level: LogLevel) -> Bool { level >= .warning }
    func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        guard isEnabled(level) else { return }
        if level == .warning, message.hasPrefix("The write-ahead log") { return say("\(level): \(message)") }
        fail("\(level): \(message)")
    }
}

extension SplitMix64 {
    /// Creates the generator of a worker. The program prints its seed.
    init(_ seed: UInt64, _ worker: Int) { self.init(seed: seed &+ UInt64(worker) &* 0x2545_f491_4f6c_dd1d) }
}
