import Foundation
import Testing

/// A folder of models with `@Model`, and the folder of their expansions, which are compiled by targets that do not depend on swift-syntax.
struct ExpandedModels: CustomStringConvertible {
    let models: URL
    let expanded: URL

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let all = [
        ExpandedModels(
            models: root.appendingPathComponent("Tests/Support/TestModels/Models"),
            expanded: root.appendingPathComponent("Tests/Support/TestModels/Expanded")),
        ExpandedModels(
            models: root.appendingPathComponent("Benchmarks/Models"),
            expanded: root.appendingPathComponent("Benchmarks/Sources/bench/Models/Expanded")),
    ]

    var description: String { models.path }

    /// Returns the expansion of each model file by the file's name.
    func expand() async throws -> [String: String] {
        let sources = try Self.files(in: models)
        let compilation = try await Compilation(of: sources)
        let errors = compilation.diagnostics.filter(\.isError)
        try #require(errors.isEmpty, "\(errors.map { "\($0.file):\($0.line): \($0.message)" })")
        return try Dictionary(
            uniqueKeysWithValues: sources.map { name, source in
                (name, try Self.macroFreeFile(source, compilation.expansions, named: name))
            })
    }

    /// Returns the contents of each Swift file of a folder by the file's name.
    static func files(in folder: URL) throws -> [String: String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)) })
    }

    /// Replaces the files of the expansions.
    func write(_ expansions: [String: String]) throws {
        for name in try Self.files(in: expanded).keys where expansions[name] == nil {
            try FileManager.default.removeItem(at: expanded.appendingPathComponent(name))
        }
        for (name, expansion) in expansions {
            try expansion.write(to: expanded.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
    }

    private static func macroFreeFile(_ source: String, _ expansions: [Expansion], named name: String) throws -> String {
        let expanded = try ExpandedSource.text(of: source, expansions, properties: .withAccessors)
        return """
            // swift-format-ignore-file
            // The expansion of \(name). Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

            \(withoutNamesOfPolyStore(withoutLocations(expanded)).trimmingCharacters(in: .whitespacesAndNewlines))

            """
    }

    /// Removes the locations of errors in the model's file, which depend on the machine, and the further indentation of the statements between them.
    private static func withoutLocations(_ source: String) -> String {
        var isBetween = false
        var lines: [Substring] = []
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.contains("#sourceLocation(") {
                isBetween = !line.contains("#sourceLocation()")
            } else {
                lines.append(isBetween ? line.dropFirst(4) : line)
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Replaces names of the module PolyStore, which declares the macros, by names of the modules that it exports, and removes semicolons.
    private static func withoutNamesOfPolyStore(_ source: String) -> String {
        var text = Array(source.utf8)
        let tokens = SourceToken.tokens(of: source)
        for (index, token) in tokens.enumerated().reversed() {
            if token.text == ";" { text.removeSubrange(token.range) }
            guard token.text == "PolyStore" else { continue }
            let isImport = index > 0 && tokens[index - 1].text == "import"
            // Generated code names only types of the storage contract.
            text.replaceSubrange(token.range, with: (isImport ? "PolyStoreBackend\nimport PolyStoreCore" : "PolyStoreBackend").utf8)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
