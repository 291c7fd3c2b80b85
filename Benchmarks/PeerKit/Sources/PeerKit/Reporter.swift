import Foundation

/// Receives unused results, so that the optimizer cannot remove the work. One thread at a time writes it.
nonisolated(unsafe) public var sink: UInt64 = 0

/// Prints a line of JSON for each workload.
public struct Reporter: Sendable {
    /// The name of the program in the output.
    public let peer: String

    /// Creates a reporter for a program.
    public init(_ peer: String) { self.peer = peer }

    /// Prints the results of a workload with n operations, as a line of JSON.
    public func emit(
        _ workload: String, _ n: Int, seconds: Double, cpu: Double, check: UInt64? = nil, note: String? = nil, extra: [(String, Int)] = []
    ) {
        var line = "{\"peer\":\"\(peer)\",\"workload\":\"\(workload)\",\"rows\":\(PB.n),\"n\":\(n)"
        line += String(format: ",\"seconds\":%.9f,\"cpu\":%.6f,\"peak_kb\":%d", seconds, cpu, Memory().peak)
        for (name, value) in extra { line += ",\"\(name)\":\(value)" }
        if let check { line += ",\"check\":\"" + String(format: "%016lx", check) + "\"" }
        if let note { line += ",\"note\":\"\(note)\"" }
        print(line + "}")
        fflush(nil)
    }

    public func emit(_ workload: String, _ n: Int, _ a: Stamp, _ b: Stamp, check: UInt64? = nil, note: String? = nil) {
        emit(workload, n, seconds: b.wall - a.wall, cpu: b.cpu - a.cpu, check: check, note: note)
    }

    /// Reports a checksum of the whole store, after the last workload.
    public func state(_ check: UInt64) {
        print("{\"peer\":\"\(peer)\",\"rows\":\(PB.n),\"state\":\"end\",\"check\":\"" + String(format: "%016lx", check) + "\"}")
    }

    /// Measures `body`. Its result is the checksum if `always`; otherwise `verify` computes one if `PB_VERIFY` is set.
    public func time(
        _ workload: String, _ n: Int, note: String? = nil, verify: (() throws -> UInt64)? = nil, always: Bool = false,
        _ body: () throws -> UInt64
    ) throws {
        let a = Stamp()
        let q = try body()
        let b = Stamp()
        sink = sink &+ q
        var check: UInt64? = always ? q : nil
        if PB.verify, let verify { check = try verify() }
        emit(workload, n, a, b, check: check, note: note)
    }
}
