internal import ChildProcesses
internal import Foundation

/// pgbouncer in transaction mode before a server of PostgreSQL. It ends with the process that started it.
package final class TransactionPooler: Sendable {
    /// The folder of the socket.
    package let folder: String
    private let process: ChildProcess

    /// The path of the program; nil if it is not installed.
    package static let program: String? = ["/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer", "/usr/local/bin/pgbouncer"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Starts a pooler.
    /// - Parameter mode: The mode: `transaction` or `session`.
    /// - Throws: ``PostgreSQLServer/Unavailable`` without the program.
    package init(_ server: PostgreSQLServer, mode: String = "transaction") throws {
        guard let program = Self.program else {
            throw PostgreSQLServer.Unavailable(description: "pgbouncer is not installed (apt-get install pgbouncer).")
        }
        let folder = server.folder + "/b\(UUID().uuidString.prefix(8))"
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        chmod(folder, 0o777)
        try Data("\"polystore\" \"\"\n".utf8).write(to: URL(fileURLWithPath: folder + "/users"))
        let configuration = """
            [databases]
            * = host=\(server.folder)
            [pgbouncer]
            listen_addr =
            listen_port = 5432
            unix_socket_dir = \(folder)
            auth_type = trust
            auth_file = \(folder)/users
            pool_mode = \(mode)
            max_client_conn = 500
            default_pool_size = 250
            logfile = \(folder)/log
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder + "/configuration"))
        let script = "\"$@\" </dev/null >/dev/null 2>&1 & pooler=$!; cat >/dev/null; kill -KILL $pooler"
        process = try ChildProcess(
            "/bin/sh", ["-c", script, "sh"] + server.account + [program, folder + "/configuration"], input: .pipe, output: .null,
            errors: .null)
        PostgreSQLServer.keepFromChildren(process)
        // Until the end of this process, with which the shell ends the pooler.
        _ = Unmanaged.passRetained(self)
        var rest = 600
        while try server.run("pg_isready", ["-q"], in: folder) != 0 {
            rest -= 1
            guard rest > 0 else { throw PostgreSQLServer.Unavailable(description: "The pooler in \(folder) does not answer.") }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    /// Returns the URL of the database `postgres` through the pooler.
    package func url(options: String = "") -> String {
        let host = folder.replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://polystore@\(host)/postgres" + (options.isEmpty ? "" : "?" + options)
    }
}
