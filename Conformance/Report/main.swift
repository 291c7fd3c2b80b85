import ConformanceTargets
import Foundation
import PolyStoreConformance

// Prints the results of the built-in backends: `conformance-report [text|markdown] [backend…]`. Exits with 1 if a case fails.
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
let targets = arguments.isEmpty ? Targets.all : Targets.all.filter { arguments.contains($0.name) }
guard ["text", "markdown"].contains(format), !targets.isEmpty else {
    let usage = "usage: conformance-report [text|markdown] [memory|sqlite|lmdb|leveldb]…, or conformance-report ids\n"
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
}

let report = await ConformanceReport.run(targets) { FileHandle.standardError.write(Data("\($0)…\n".utf8)) }
print(format == "markdown" ? report.markdown : report.text, terminator: "")
exit(report.failures.isEmpty ? 0 : 1)
