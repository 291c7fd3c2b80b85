import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport

/// An operation of the object layer whose calls to a server are listed in Tests/calls.txt.
struct CountedOperation: Sendable {
    let name: String
    let countsOpening: Bool
    let pushesDown: Bool
    let history: HistoryOptions?
    let prepare: @MainActor @Sendable (DataStack) throws -> Void
    let run: @MainActor @Sendable (DataStack) async throws -> Void

    /// - Parameters:
    ///   - countsOpening: Whether the calls that open the store count too.
    ///   - pushesDown: Whether the server evaluates conditions.
    ///   - history: The history that the store records.
    ///   - prepare: Creates the objects. Its calls are not counted.
    ///   - run: The operation.
    init(
        _ name: String, countsOpening: Bool = false, pushesDown: Bool = true, history: HistoryOptions? = nil,
        prepare: @escaping @MainActor @Sendable (DataStack) throws -> Void = { _ in },
        run: @escaping @MainActor @Sendable (DataStack) async throws -> Void
    ) {
        (self.name, self.countsOpening, self.pushesDown) = (name, countsOpening, pushesDown)
        (self.history, self.prepare, self.run) = (history, prepare, run)
    }

    private static let schema = Schema(
        "Calls", Person.self, Department.self, Project.self, Playlist.self, Track.self, MusicTag.self, Tally.self)

    /// Executes the operation on a new store. With POLYSTORE_CALL_DELAY each call takes that many milliseconds, and the elapsed time is printed.
    /// - Returns: The number of calls of each kind.
    @MainActor
    func calls() async throws -> [SimulatedServer.Call: Int] {
        let server = SimulatedServer(pushesDown: pushesDown, beginsLate: true)
        let stack = try DataStack(Self.schema)
        // Independent of the speed of the machine.
        stack.snapshotWarningAge = .seconds(100_000)
        stack.groupLimits.nanoseconds = .max
        try stack.addStore(.simulatedServer(server), history: history)
        try prepare(stack)
        let before = countsOpening ? [:] : server.counts
        let delay = TestEnvironment.number("POLYSTORE_CALL_DELAY")
        if let delay { server.delay(by: .milliseconds(delay)) }
        let began = ContinuousClock.now
        try await run(stack)
        if delay != nil { print("call table: \(name): \(ContinuousClock.now - began)") }
        return server.counts.merging(before) { $0 - $1 }.filter { $0.value != 0 }
    }
}

/// The listing of Tests/calls.txt: a line for each operation, with the total and the number of calls of each kind.
enum CallTable {
    /// The file of the listing.
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
        "calls.txt")

    static let header = """
        # The calls that an operation of the object layer sends to a server: the total, and the number of each kind. A call costs a round trip.
        # A write transaction begins with its first call.
        # The test CallTableTests compares this listing. Write it with: POLYSTORE_WRITE_CALLS=1 swift test --filter CallTableTests

        """

    static func line(_ name: String, _ calls: [SimulatedServer.Call: Int]) -> String {
        let parts = calls.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "\(name): \(calls.values.reduce(0, +))" + (parts.isEmpty ? "" : " = \(parts)")
    }

    /// Returns the lines of the file by the names of their operations.
    static func lines() throws -> [String: String] {
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        return Dictionary(lines.map { (name(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
    }

    static func name(of line: String) -> String { line.range(of: ": ", options: .backwards).map { String(line[..<$0.lowerBound]) } ?? line }

    /// Returns the number of calls of each kind in a line.
    static func counts(in line: String) -> [SimulatedServer.Call: Int] {
        guard let equals = line.range(of: " = ") else { return [:] }
        var counts: [SimulatedServer.Call: Int] = [:]
        for part in line[equals.upperBound...].components(separatedBy: ", ") {
            let words = part.split(separator: " ")
            if words.count == 2, let call = SimulatedServer.Call(rawValue: String(words[0])) { counts[call] = Int(words[1]) }
        }
        return counts
    }
}
