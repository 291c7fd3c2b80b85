import Foundation

/// A server of PostgreSQL, which ends with this process.
package enum PostgreSQL {
    /// The URL of the database; nil if no server can be started.
    package static let url: String? = start()

    private static func start() -> String? {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = BuiltPrograms.folder.appendingPathComponent("postgresql-server")
        (process.standardInput, process.standardOutput) = (input, output)
        // Another process that inherited the input would keep the server.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        guard (try? process.run()) != nil else { return nil }
        var line = Data()
        while !line.contains(UInt8(ascii: "\n")) {
            let bytes = output.fileHandleForReading.availableData
            if bytes.isEmpty { return nil }
            line += bytes
        }
        _ = Unmanaged.passRetained(input)
        return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
