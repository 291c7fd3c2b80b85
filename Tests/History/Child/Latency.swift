import ChildProcesses
import Dispatch
import Foundation
import HistoryTestSupport
import PolyStore

/// Measures the time from the return of a commit in another process to the notification of an observer in this one.
struct Latency {
    let engine: String
    let path: String
    let count: Int
    let pause: String

    func run(_ stack: DataStack) async throws {
        let commits = stack.commits
        let process = try ChildProcess(CommandLine.arguments[0], ["timed", engine, path, "\(count)", pause], input: .pipe, output: .pipe)
        try process.input?.write(contentsOf: Data("go\n".utf8))
        var noticed: [UInt64] = []
        for await commit in commits where commit.isExternal && !commit.changesAreUnknown {
            noticed.append(DispatchTime.now().uptimeNanoseconds)
            if noticed.count == count { break }
        }
        process.wait()
        let text = String(decoding: process.output?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
        let committed = text.split(separator: "\n").compactMap { UInt64($0) }
        // The notification can precede the writer's reading of the clock.
        let latencies = zip(committed, noticed).map { Double(Int64(bitPattern: $1 &- $0)) / 1_000_000 }.sorted()
        let points: [(String, Double)] = [("min", 0), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1)]
        let figures = points.map { name, part in
            "\(name) \(String(format: "%.2f", latencies[min(latencies.count - 1, Int(part * Double(latencies.count)))])) ms"
        }
        print("\(engine), \(latencies.count) commits, a pause of \(pause) ms after each: \(figures.joined(separator: ", "))")
    }
}
