import Foundation
import TestSupport
import Testing

/// A server behind a network answers each call after a round trip, so an operation on many objects must not send a call for each.
@MainActor
@Suite struct CallTableTests {
    /// Fails if an operation sends another number of calls than Tests/calls.txt lists. With POLYSTORE_WRITE_CALLS=1 the file is written.
    @Test func operationsSendTheListedCalls() async throws {
        var lines: [String] = []
        for operation in CountedOperation.all { lines.append(CallTable.line(operation.name, try await operation.calls())) }
        if TestEnvironment.text("POLYSTORE_WRITE_CALLS") != nil {
            try (CallTable.header + lines.joined(separator: "\n") + "\n").write(to: CallTable.file, atomically: true, encoding: .utf8)
        }
        let listed = try CallTable.lines()
        for line in lines {
            let old = listed[CallTable.name(of: line)] ?? "nothing"
            let (now, before) = (CallTable.counts(in: line), CallTable.counts(in: old))
            let grown = now.filter { $0.value > before[$0.key, default: 0] }.keys.sorted()
            if !grown.isEmpty {
                Issue.record("More calls of \(grown) than Tests/calls.txt lists. It lists \(old); now: \(line)")
            } else if line != old {
                Issue.record(
                    "Fewer calls than Tests/calls.txt lists. Write it again with POLYSTORE_WRITE_CALLS=1. It lists \(old); now: \(line)")
            }
        }
        #expect(Set(listed.keys) == Set(CountedOperation.all.map(\.name)), "the operations of Tests/calls.txt")
    }
}
