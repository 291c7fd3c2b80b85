import ConformanceTargets
import Foundation
import PolyStoreConformance

// Prints the results of the built-in backends: `conformance-report [text|markdown] [backend…]`. Exits with 1 if a case fails.
var arguments = CommandLine.arguments.dropFirst()
let format = arguments.popFirst() ?? "text"
let targets = arguments.isEmpty ? Targets.all : Targets.all.filter { arguments.contains($0.name) }
guard ["text", "markdown"].contains(format), !targets.isEmpty else {
    FileHandle.standardError.write(Data("usage: conformance-report [text|markdown] [memory|sqlite|lmdb|leveldb]…\n".utf8))
    exit(2)
}

let report = await ConformanceReport.run(targets) { FileHandle.standardError.write(Data("\($0)…\n".utf8)) }
print(format == "markdown" ? report.markdown : report.text, terminator: "")
exit(report.failures.isEmpty ? 0 : 1)
