import Foundation
import PolyStoreConformance
import PostgreSQLServer
import PostgreSQLTarget

// Runs the conformance suite on a server of PostgreSQL that it starts: `postgresql-report [beginning of an id…]`. Exits with 1 if a case fails that is not known to fail.
let target: ConformanceTarget
do { target = PostgreSQLTarget.on(try PostgreSQLServer()) } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}

// `postgresql-report oracle FIRST LAST` compares random schemas, changes and requests of some seeds with a naive model instead; `searches` draws full-text
// indexes and searches.
if CommandLine.arguments.count == 4, ["oracle", "searches"].contains(CommandLine.arguments[1]),
    let first = UInt64(CommandLine.arguments[2]),
    let last = UInt64(CommandLine.arguments[3]), first <= last
{
    for seed in first...last {
        do {
            if CommandLine.arguments[1] == "oracle" {
                try await Oracle.run(seed: seed, on: target)
            } else {
                try await Oracle.runSearches(seed: seed, on: target)
            }
        } catch {
            print("FAILED  seed \(seed): \(error)")
            exit(1)
        }
    }
    print("\(last - first + 1) seeds passed")
    exit(0)
}

let words = CommandLine.arguments.dropFirst()
var (passed, skipped): (Int, Int) = (0, 0)
var failed: [String] = []
for c in ConformanceCase.all where words.isEmpty || words.contains(where: { c.id.hasPrefix($0) }) {
    if let reason = c.reasonToSkip(target) {
        skipped += 1
        print("skipped \(c.id): \(reason)")
        continue
    }
    do {
        try await c.run(target)
        passed += 1
        print("passed  \(c.id)")
    } catch {
        failed.append(c.id)
        print("FAILED  \(c.id): \(error)")
        if let reason = PostgreSQLTarget.knownFailures[c.id] { print("  known: \(reason)") }
    }
    fflush(nil)
}
print("\(passed) passed, \(failed.count) failed, \(skipped) skipped")
for id in failed { print("  \(id)") }
exit(failed.allSatisfy { PostgreSQLTarget.knownFailures[$0] != nil } ? 0 : 1)
