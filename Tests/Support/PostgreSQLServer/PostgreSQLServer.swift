internal import ChildProcesses
internal import Foundation

/// A PostgreSQL server in a temporary folder, with a Unix socket only. It ends with the process that started it, even if that process is killed.
package final class PostgreSQLServer: Sendable {
    /// The server cannot be started.
    package struct Unavailable: Error, CustomStringConvertible {
        /// The reason.
        package let description: String
    }

    /// The folder of the socket.
    package let folder: String
    private let process: ChildProcess
    private let bin: String
    let account: [String]

    /// The server that the tests of this process share. It is started when it is used for the first time.
    package static let shared = Result { try PostgreSQLServer() }

    /// Starts a server.
    /// - Parameters:
    ///   - settings: Settings of the server, such as `default_transaction_read_only=on`.
    ///   - original: A server that has ended and whose data directory is copied; nil for an empty one.
    /// - Throws: ``Unavailable`` without a program of PostgreSQL, or without a user to run it as.
    package init(_ settings: [String] = [], copying original: PostgreSQLServer? = nil) throws {
        bin = try Self.programs()
        account = try Self.account()
        let folder = FileManager.default.temporaryDirectory.path + "/pg-\(UUID().uuidString.prefix(8))"
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        if !account.isEmpty, let user = getpwnam(String(account[1].dropFirst("--reuid=".count))) {
            chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
        }
        let data = folder + "/data"
        let initdb =
            account
            + (original.map { ["cp", "-a", $0.folder + "/data", data] } ?? [
                bin + "/initdb", "-D", data, "-U", "polystore", "-E", "UTF8", "--locale=C", "-A", "trust", "--no-sync",
            ])
        let making = try ChildProcess(initdb[0], Array(initdb.dropFirst()), output: .null, errors: .null)
        guard making.wait() == 0 else { throw Unavailable(description: "initdb failed: \(initdb.joined(separator: " "))") }
        // The shell ends the server at the end of its input. The input ends with this process.
        let server =
            account + [
                bin + "/postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=400",
                "-c", "log_min_messages=fatal",
            ] + settings.flatMap { ["-c", $0] }
        let script =
            """
            start() { "$@" </dev/null >>'\(folder)/log' 2>&1 & server=$!; }
            start "$@"
            while read -r word; do case $word in
            kill) kill -STOP $server; pkill -KILL -P $server; kill -KILL $server; wait $server; echo ;;
            stop) kill -QUIT $server; while kill -0 $server 2>/dev/null; do sleep 0.05; done; echo ;;
            start) kill -0 $server 2>/dev/null || start "$@" ;;
            esac; done
            kill -QUIT $server; sleep 1; rm -rf '\(folder)'
            """
        process = try ChildProcess("/bin/sh", ["-c", script, "sh"] + server, input: .pipe, output: .pipe, errors: .null)
        Self.keepFromChildren(process)
        // Keeps the input of the shell open until this process ends.
        _ = Unmanaged.passRetained(self)
        try waitUntilReady()
    }

    /// Prevents child processes from inheriting the input of a shell. Its end would otherwise wait for them.
    static func keepFromChildren(_ process: ChildProcess) {
        if let input = process.input { _ = fcntl(input.fileDescriptor, F_SETFD, FD_CLOEXEC) }
    }

    private func waitUntilReady() throws {
        var rest = 600
        while try run("pg_isready", ["-q"]) != 0 {
            rest -= 1
            guard rest > 0 else { throw Unavailable(description: "The server in \(folder) does not answer.") }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    /// Kills the processes of the server, as a crash does.
    package func kill() {
        process.input?.write(Data("kill\n".utf8))
        // The shell answers.
        _ = process.output?.availableData
    }

    /// Ends the server immediately, without a checkpoint.
    package func stop() {
        process.input?.write(Data("stop\n".utf8))
        // The shell answers.
        _ = process.output?.availableData
    }

    /// Starts the server again after ``kill()`` or ``stop()``. It starts only when the processes of its predecessor have ended.
    package func restart() throws {
        var rest = 3000
        repeat {
            process.input?.write(Data("start\n".utf8))
            Thread.sleep(forTimeInterval: 0.1)
            rest -= 1
            guard rest > 0 else { throw Unavailable(description: "The server in \(folder) does not start again.") }
        } while try run("pg_isready", ["-q"]) != 0
    }

    /// Returns the URL of a database, which exists if it is `postgres`.
    package func url(_ database: String = "postgres", user: String = "polystore", options: String = "") -> String {
        let host = folder.replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://\(user)@\(host)/\(database)" + (options.isEmpty ? "" : "?" + options)
    }

    /// Runs statements with `psql`, and returns its output.
    @discardableResult
    package func psql(_ sql: String, database: String = "postgres", user: String = "polystore") throws -> String {
        let program = try ChildProcess(
            bin + "/psql", ["-h", folder, "-U", user, "-d", database, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql],
            output: .pipe, errors: .null)
        let output = program.output?.readDataToEndOfFile() ?? Data()
        guard program.wait() == 0 else { throw Unavailable(description: "psql failed: \(sql)") }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    func run(_ name: String, _ arguments: [String], in folder: String? = nil) throws -> Int32 {
        try ChildProcess(
            bin + "/" + name, ["-h", folder ?? self.folder, "-U", "polystore", "-d", "postgres"] + arguments, output: .null, errors: .null
        )
        .wait()
    }

    /// Returns the folder of the programs of PostgreSQL: `POLYSTORE_POSTGRESQL`, or the folder of the newest version from Debian or Homebrew.
    private static func programs() throws -> String {
        if let named = ProcessInfo.processInfo.environment["POLYSTORE_POSTGRESQL"] { return named }
        let manager = FileManager.default
        var found: [(version: Int, path: String)] = []
        for root in ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"] {
            for name in (try? manager.contentsOfDirectory(atPath: root)) ?? [] {
                let path = "\(root)/\(name)/bin"
                guard manager.isExecutableFile(atPath: path + "/postgres") else { continue }
                found.append((Int(name.filter(\.isNumber)) ?? 0, path))
            }
        }
        guard let newest = found.max(by: { $0.version < $1.version }) else {
            throw Unavailable(
                description:
                    "PostgreSQL was not found. Install it (apt-get install postgresql), or name the folder of its programs in POLYSTORE_POSTGRESQL."
            )
        }
        return newest.path
    }

    /// Returns the command that changes to another user if the process runs as root, which PostgreSQL refuses.
    private static func account() throws -> [String] {
        guard geteuid() == 0 else { return [] }
        for name in ["postgres", "nobody"] where getpwnam(name) != nil {
            // Replaces itself by the program, which then receives the signals.
            return ["setpriv", "--reuid=\(name)", "--regid=\(name == "nobody" ? "nogroup" : name)", "--clear-groups"]
        }
        throw Unavailable(description: "PostgreSQL does not run as root, and neither the user postgres nor the user nobody exists.")
    }
}
