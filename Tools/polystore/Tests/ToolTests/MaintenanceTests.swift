import Foundation
import StoreTesting
import Testing

/// Backups, compaction and verification.
@Suite struct MaintenanceTests {
    @Test(arguments: Engine.available)
    func backupIsAStoreLikeAnyOther(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let copy = engine.url(folder, "copy")
        let result = try Tool.run("polystore backup \"$STORE\" \"$COPY\"", in: folder, ["STORE": url, "COPY": copy])
        #expect(result.status == 0, "\(result.errors)")
        let rows = try ["\(url)", copy].map {
            try Tool.run("polystore query '\($0)' Publication --format json; polystore verify '\($0)'", in: folder).output
        }
        #expect(rows[0] == rows[1] && rows[0].contains("No damage"))
        let again = try Tool.run("polystore backup \"$STORE\" \"$COPY\"", in: folder, ["STORE": url, "COPY": copy])
        #expect(again.status == 4)
        #expect(again.errors.hasPrefix("polystore: "))
        #expect(try Tool.run("polystore count '\(copy)' Publication", in: folder).output == "4\n", "the copy that existed is unchanged")
    }

    @Test(arguments: Engine.files)
    func backupTakesAPath(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        try Tool.run("polystore backup '\(url)' 'the copy?'; polystore count 'the copy?' Book", in: folder).succeeded()
        let other = engine == .sqlite ? "lmdb" : "sqlite"
        let refused = try Tool.run("polystore backup '\(url)' '\(other):x'", in: folder)
        #expect(refused.status == 2 && refused.errors.contains("convert"))
        let missing = try Tool.run("polystore backup '\(url)' nowhere/copy", in: folder)
        #expect(missing.status == 4 && !missing.errors.isEmpty)
    }

    /// However far it is: the copy is complete, or there is nothing of it.
    @Test(arguments: Engine.files, [0, 0.01, 0.03])
    func interruptedBackupLeavesNothing(_ engine: Engine, _ delay: Double) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let result = try Tool.run(
            """
            set -m
            "$POLYSTORE" backup '\(url)' copy & tool=$!
            sleep \(delay); kill -INT $tool; wait $tool; status=$?
            if [ -e copy ]; then polystore count copy Book; else echo none; fi
            echo $status; ls
            """, in: folder)
        let lines = result.output.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("Copied") }
        try #require(lines.count > 2, "\(result.errors)")
        // A process that has not begun yet ends by the signal itself.
        #expect(["3", "none"].contains(lines[0]))
        #expect(lines[0] == "3" ? lines[1] == "0" : lines[1] == "130")
        #expect(lines[2...].allSatisfy { $0 == "copy" || $0.hasPrefix("copy-") || $0.hasPrefix("library") }, "\(lines)")
    }

    @Test(arguments: Engine.available)
    func compactedStoreHasItsObjects(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let before = try Tool.run("polystore query '\(url)' Publication --format json", in: folder).output
        let result = try Tool.run("polystore compact '\(url)'", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(engine == .postgresql || result.output.contains("bytes before, "))
        #expect(try Tool.run("polystore query '\(url)' Publication --format json", in: folder).output == before)
        #expect(try Tool.run("polystore verify '\(url)'", in: folder).status == 0)
    }

    @Test(arguments: Engine.files)
    func damageIsFound(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let path = String(url.dropFirst(engine.rawValue.count + 1))
        var file = path
        if engine == .leveldb {
            let files = try FileManager.default.contentsOfDirectory(atPath: path)
            file = path + "/" + (try #require(files.first { $0.hasSuffix(".ldb") } ?? files.first { $0.hasSuffix(".log") }))
        }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        // In the row or in the index, which then differ.
        let range = try #require(bytes.range(of: Data("Small & ".utf8)))
        bytes.replaceSubrange(range, with: Data("Smal7 & ".utf8))
        try bytes.write(to: URL(fileURLWithPath: file))
        let result = try Tool.run("polystore verify '\(url)'", in: folder)
        #expect(result.status == 1, "\(result.output) \(result.errors)")
        #expect(!result.output.contains("No damage") && result.errors.contains("is damaged"))
        let json = try Tool.run("polystore verify '\(url)' --json", in: folder)
        #expect(json.status == 1 && json.output.hasPrefix("[\""))
    }
}
