import Foundation
import StoreTesting
import Testing

/// `polystore convert`, between all engines.
@Suite struct ConvertTests {
    private static let queries = ["Publication", "Author", "Publisher", "Loan"].map { "polystore query \"$STORE\" \($0) --format json" }

    /// Returns what the commands that read a store print.
    private func contents(_ url: String, in folder: TemporaryFolder) throws -> [String] {
        try (Self.queries + ["polystore schema \"$STORE\"", "polystore verify \"$STORE\""]).map { command in
            let result = try Tool.run(command, in: folder, ["STORE": url], mergesErrors: true)
            #expect(result.status == 0 || result.status == 1, "\(result.output)")
            return result.output
        }
    }

    @Test(arguments: Engine.available) func targetOfEveryEnginePrintsTheSame(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let source = try engine.makeLibrary(in: folder)
        let expected = try contents(source, in: folder)
        var digests: Set<String> = []
        for target in Engine.available {
            let url = target.url(folder, "to_\(target)")
            let result = try Tool.run("polystore convert \"$SOURCE\" \"$TARGET\"", in: folder, ["SOURCE": source, "TARGET": url])
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("objects  9\n"), "\(result.output)")
            digests.formUnion(result.output.split(separator: "\n").filter { $0.hasPrefix("digest") }.map(String.init))
            #expect(try contents(url, in: folder) == expected)
        }
        #expect(digests.count == 1)
    }

    @Test(arguments: Engine.available) func existingTargetIsRefused(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let source = try engine.makeLibrary(in: folder)
        let result = try Tool.run("polystore convert \"$STORE\" \"$STORE\"", in: folder, ["STORE": source])
        #expect(result.status == 4)
        #expect(result.errors.contains("exists already"))
        #expect(try Tool.run("polystore verify \"$STORE\"", in: folder, ["STORE": source]).status == 0)
    }

    @Test func invalidArgumentsHaveTheirExitCodes() throws {
        let folder = try TemporaryFolder()
        try Engine.sqlite.makeLibrary(in: folder)
        for (arguments, status) in [
            ("none.sqlite a.lmdb", 3), ("sqlite:none.sqlite a.lmdb", 3), ("library.sqlite a.unknown", 2), ("library.sqlite memory:", 2),
            ("library.sqlite", 2), ("library.sqlite none/a.lmdb", 4),
        ] as [(String, Int32)] {
            let result = try Tool.run("polystore convert \(arguments)", in: folder)
            #expect(result.status == status, "\(arguments): \(result.errors)")
            #expect(!result.errors.isEmpty)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { $0.hasPrefix("library.sqlite") })
    }

    /// The signal comes at any moment: before, during or after the conversion.
    @Test func interruptedConversionIsContinuedByTheSameCommand() throws {
        let folder = try TemporaryFolder()
        try Engine.sqlite.makeLibrary(in: folder)
        for delay in ["0.01", "0.1", "0.2", "0.4"] {
            let first = try Tool.run(
                "\"$POLYSTORE\" convert library.sqlite t\(delay).lmdb & sleep \(delay); kill -INT $!; wait $!", in: folder)
            if first.status == 0 { continue }
            let again = try Tool.run("polystore convert library.sqlite lmdb:t\(delay).lmdb", in: folder)
            #expect(again.status == 0, "\(again.errors)")
            #expect(try Tool.run("polystore verify t\(delay).lmdb", in: folder).status == 0)
        }
    }
}
