import Foundation
import StoreTesting
import Testing

/// The built tool.
enum Tool {
    /// The output of a command, and its exit code.
    struct Result {
        let output: String
        let errors: String
        let status: Int32
    }

    /// Runs a command of the shell in which `polystore` is the tool.
    /// - Parameters:
    ///   - folder: The folder of the process.
    ///   - environment: Additional variables.
    ///   - mergesErrors: Whether the errors are written to the output, in order.
    static func run(
        _ command: String, in folder: TemporaryFolder, _ environment: [String: String] = [:], mergesErrors: Bool = false
    ) throws -> Result {
        let name = UUID().uuidString
        let (output, errors) = ("\(folder.path)/.\(name).out", "\(folder.path)/.\(name).err")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        // Files and not pipes, which processes that are started at the same time could inherit.
        // With job control, so that background jobs receive interruptions.
        process.arguments = ["-c", "set -m; polystore() { \"$POLYSTORE\" \"$@\"; }\n\(command)"]
        process.environment = ProcessInfo.processInfo.environment
            .merging([
                "POLYSTORE": BuiltPrograms.folder.appendingPathComponent("polystore").path, "LC_ALL": "C.UTF-8", "TZ": "UTC",
                "MALLOC_PERTURB_": "165", "SWIFT_BACKTRACE": "enable=no",
            ]) { $1 }
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        for path in [output, errors] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        let outputHandle = try #require(FileHandle(forWritingAtPath: output))
        process.standardOutput = outputHandle
        process.standardError = mergesErrors ? outputHandle : try #require(FileHandle(forWritingAtPath: errors))
        try process.run()
        process.waitUntilExit()
        func text(_ path: String) throws -> String {
            defer { try? FileManager.default.removeItem(atPath: path) }
            return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        }
        return Result(output: try text(output), errors: try text(errors), status: process.terminationStatus)
    }
}

extension Tool.Result {
    /// Records an issue if the command failed.
    func succeeded() throws { #expect(status == 0, "\(errors)") }
}
