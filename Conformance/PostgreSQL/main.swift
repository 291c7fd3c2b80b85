import Foundation
import PolyStoreBackend
import PolyStoreConformance
import PolyStorePostgreSQL
import PostgreSQLServer

// Runs the conformance suite on a server of PostgreSQL that it starts: `postgresql-report [part of an id…]`. Exits with 1 if a case fails.
let server: PostgreSQLServer
do { server = try PostgreSQLServer() } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}

let target = ConformanceTarget(
    name: "postgresql",
    capabilities: [
        .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .transferableWriter, .namedValues, .changeLog,
        .verification,
    ], findsDamage: false, keepsLocalFiles: false,
    store: { location in
        do { return try .postgreSQL(server.url(), options: schema(location)) } catch { fatalError("\(error)") }
    },
    teardown: { location in
        try server.psql("DROP SCHEMA IF EXISTS \"\(schema(location).schema)\" CASCADE")
    })

/// Returns the options of the store of a case, with a schema of its own.
func schema(_ location: ConformanceLocation) -> PostgreSQLOptions {
    var options = PostgreSQLOptions()
    options.schema = "s" + String(location.path.utf8.reduce(5381 as UInt64) { $0 &* 33 &+ UInt64($1) }, radix: 16)
    options.maximumConnections = 100
    // Practically without a limit: a loaded machine is not a failure.
    options.busyTimeout = .seconds(3600)
    return options
}

let words = CommandLine.arguments.dropFirst()
var (passed, failed, skipped): (Int, [String], Int) = (0, [], 0)
for c in ConformanceCase.all where words.isEmpty || words.contains(where: { c.id.contains($0) }) {
    if let reason = c.reasonToSkip(target) {
        skipped += 1
        print("skipped \(c.id): \(reason)")
        continue
    }
    do {
        let start = ContinuousClock.now
        try await c.run(target)
        passed += 1
        print("passed  \(c.id) \(ContinuousClock.now - start)")
    } catch {
        failed.append(c.id)
        print("FAILED  \(c.id): \(error)")
    }
    fflush(nil)
}
print("\(passed) passed, \(failed.count) failed, \(skipped) skipped")
for id in failed { print("  \(id)") }
exit(failed.isEmpty ? 0 : 1)
