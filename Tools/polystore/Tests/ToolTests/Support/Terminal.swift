import Foundation
import StoreTesting
import Testing

extension Tool {
    /// Runs the tool with its output and errors on a terminal, and returns what the terminal receives.
    static func runInTerminal(
        _ arguments: [String], columns: Int, in folder: TemporaryFolder, _ environment: [String: String] = [:]
    ) throws -> (output: String, status: Int32) {
        let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
        let program = "\(folder.path)/.terminal.py"
        try terminal.write(toFile: program, atomically: true, encoding: .utf8)
        let result = try run(
            "unset COLUMNS \(environment["NO_COLOR"] == nil ? "NO_COLOR" : ""); python3 '\(program)' \(columns) \"$POLYSTORE\" \(quoted)",
            in: folder,
            ["TERM": "xterm"].merging(environment) { $1 })
        return (result.output.replacingOccurrences(of: "\r\n", with: "\n"), result.status)
    }

    private static let terminal = """
        import fcntl, os, pty, struct, sys, termios

        main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
        child = os.fork()
        if child == 0:
            os.close(main)
            os.dup2(terminal, 1)
            os.dup2(terminal, 2)
            os.execv(sys.argv[2], sys.argv[2:])
        os.close(terminal)
        while True:
            try:
                data = os.read(main, 4096)
            except OSError:
                break
            if not data:
                break
            os.write(1, data)
        sys.exit(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
        """
}
