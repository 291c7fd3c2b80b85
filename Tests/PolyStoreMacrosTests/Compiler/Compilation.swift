import ChildProcesses
import Foundation

/// One run of the compiler with the macros of PolyStore. The sources need not be correct: macros are expanded in a program with other errors too.
struct Compilation: Sendable {
    let expansions: [Expansion]
    let diagnostics: [CompilerDiagnostic]

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Type-checks files as one module.
    ///
    /// - Parameters:
    ///   - files: The contents of each file by its name.
    ///   - imports: The modules that each file imports without an `import`, which would move its lines.
    init(of files: [String: String], importing imports: [String] = []) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files { try text.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8) }
        let (status, output) = try await Self.run(try Self.options(imports) + files.keys.sorted(), in: folder)
        guard status <= 1, let diagnostics = try? Data(contentsOf: folder.appendingPathComponent(Self.diagnosticsFile)) else {
            throw Failure(description: "The compiler failed with exit status \(status): \(output.suffix(2000))")
        }
        self.diagnostics = try SerializedDiagnostics([UInt8](diagnostics)).read()
        expansions = Expansion.parse(output)
    }

    private static let moduleName = "Models"
    /// The file that the compiler writes for a module, in the current folder.
    private static let diagnosticsFile = moduleName + ".dia"

    private static func options(_ imports: [String]) throws -> [String] {
        let products = try productFolder()
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let frontend = ["-dump-macro-expansions"] + imports.flatMap { ["-import-module", $0] }
        return [
            "-typecheck", "-whole-module-optimization", "-parse-as-library", "-swift-version", "6", "-module-name", moduleName,
            "-package-name", moduleName, "-diagnostic-style", "llvm", "-serialize-diagnostics", "-I",
            products.appendingPathComponent("Modules").path,
            "-load-plugin-executable", "\(products.appendingPathComponent(plugin).path)#PolyStoreMacros",
        ]
            + ["CRecordBytes", "CObjectRetain"].flatMap { ["-I", root.appendingPathComponent("Sources/\($0)/include").path] }
            + frontend.flatMap { ["-Xfrontend", $0] }
    }

    private static let plugin = "PolyStoreMacros-tool"

    private final class Anchor {}

    /// Returns the folder that contains the test bundle, the plug-in and the modules.
    private static func productFolder() throws -> URL {
        #if canImport(Darwin)
            let folder = Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent()
        #else
            let folder = Bundle.main.bundleURL
        #endif
        guard FileManager.default.fileExists(atPath: folder.appendingPathComponent(plugin).path) else {
            throw Failure(description: "\(folder.path) does not contain \(plugin). Build the tests with SwiftPM.")
        }
        return folder
    }

    /// Runs the compiler without blocking a thread.
    private static func run(_ arguments: [String], in folder: URL) async throws -> (status: Int32, output: String) {
        let file = folder.appendingPathComponent("output.txt")
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        defer { try? output.close() }
        #if canImport(Darwin)
            let (program, first) = ("xcrun", ["swiftc"])
        #else
            let (program, first) = ("swiftc", [String]())
        #endif
        let process = try ChildProcess(program, first + arguments, in: folder.path, output: .file(output), errors: .file(output))
        let status = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: process.wait()) }
        }
        return (status, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
}
