import ConformanceTargets
import Foundation
import PolyStoreConformance

// Prints the results of the built-in backends: `conformance-report [text|markdown] [backend…]`. Exits with 1 if a case fails.
// `conformance-report cases PREFIX [backend…]` runs the cases whose ids begin so, and prints their failures.
// `conformance-report searches FIRST LAST [backend…]` compares random searches of some seeds with a naive model.
// `conformance-report ids` prints the id of each case and the built-in backends that it applies to, and runs none.
var arguments = CommandLine.arguments.dropFirst()
let format = arguments.popFirst() ?? "text"
if format == "ids", arguments.isEmpty {
    for c in ConformanceCase.all {
        print("case \(c.id): \(Targets.all.filter { c.reasonToSkip($0) == nil }.map(\.name).joined(separator: " "))")
    }
    for c in EngineCase.all {
        print("engine \(c.id): \(Engines.all.filter { c.reasonToSkip($0) == nil }.map(\.name).joined(separator: " "))")
    }
    exit(0)
}
if format == "cases", let prefix = arguments.popFirst() {
    let targets = arguments.isEmpty ? Targets.all : Targets.all.filter { arguments.contains($0.name) }
    var failed = 0
    for target in targets {
        for c in ConformanceCase.all where c.id.hasPrefix(prefix) && c.reasonToSkip(target) == nil {
            do { try await c.run(target) } catch {
                failed += 1
                print("FAILED  \(target.name) \(error)")
            }
        }
    }
    print("\(failed) failed")
    exit(failed == 0 ? 0 : 1)
}
if format == "searches", let first = arguments.popFirst().flatMap({ UInt64($0) }), let last = arguments.popFirst().flatMap({ UInt64($0) }),
    first <= last
{
    for target in arguments.isEmpty ? Targets.all : Targets.all.filter({ arguments.contains($0.name) }) {
        for seed in first...last {
            do { try await Oracle.runSearches(seed: seed, on: target) } catch {
                print("FAILED  \(target.name), seed \(seed): \(error)")
                exit(1)
            }
        }
        print("\(target.name): \(last - first + 1) seeds passed")
    }
    exit(0)
}
let targets = arguments.isEmpty ? Targets.all : Targets.all.filter { arguments.contains($0.name) }
guard ["text", "markdown"].contains(format), !targets.isEmpty else {
    let usage = "usage: conformance-report [text|markdown] [memory|sqlite|lmdb|leveldb]…, or conformance-report ids\n"
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
}

let report = await ConformanceReport.run(targets) { FileHandle.standardError.write(Data("\($0)…\n".utf8)) }
print(format == "markdown" ? report.markdown : report.text, terminator: "")
exit(report.failures.isEmpty ? 0 : 1)
