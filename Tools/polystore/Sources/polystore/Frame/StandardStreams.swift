import Foundation
import PolyStoreFormats

/// The standard streams of the process.
enum StandardStreams {
    /// Keeps the numbers 0 to 2 from becoming files of a store if the caller has closed them, and turns a closed pipe into an error of the write.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            // Writing to an output that was opened for reading fails as it does to a closed one.
            _ = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
        }
    }

    static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
    static let errorIsTerminal = isatty(STDERR_FILENO) == 1

    /// Returns whether colours are permitted on a stream: it is a terminal, and `NO_COLOR` is not set.
    static func permitsColour(_ isTerminal: Bool) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        return isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// The number of columns of the terminal to which the output goes; nil if it goes elsewhere.
    static var outputWidth: Int? { outputIsTerminal ? width(STDOUT_FILENO) : nil }
    /// The number of columns of the terminal to which messages go.
    static var errorWidth: Int { width(STDERR_FILENO) }

    private static func width(_ descriptor: Int32) -> Int {
        var size = winsize()
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }

    /// Writes a message of the tool, if it is not empty. Control characters of data in it are escaped, and passwords in URLs left out.
    static func report(_ message: String) {
        guard !message.isEmpty else { return }
        let name = permitsColour(errorIsTerminal) ? "\u{1b}[31mpolystore:\u{1b}[0m" : "polystore:"
        writeError("\(name) \(DisplayText.lines(withoutPasswords(message)))\n")
    }

    /// Returns a text in which URLs have no passwords, also URLs that are not valid.
    private static func withoutPasswords(_ text: String) -> String {
        text.replacing(/:\/\/([^\s:\/@"']*):[^\s"']*@/) { "://\($0.1)@" }
    }

    /// Writes text to standard error; what cannot be written is lost.
    static func writeError(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}

/// The buffered standard output.
final class StandardOutput: ByteSink, @unchecked Sendable {  // The lock guards the buffer.
    static let shared = StandardOutput()

    private let lock = NSLock()
    private var buffer: [UInt8] = []
    private var hasWritten = false

    /// A Boolean value that indicates whether a part of the output was written, perhaps only to the buffer: writing it again would repeat it.
    var isBegun: Bool { lock.withLock { hasWritten } }

    /// Appends text.
    /// - Throws: `closedOutput` if the reader has closed the pipe, `failure` if the output cannot be written.
    func write(_ text: String) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        try lock.withLock {
            if !bytes.isEmpty { hasWritten = true }
            buffer.append(contentsOf: bytes)
            if buffer.count >= 1 << 16 { try flushLocked() }
        }
    }

    /// Passes everything to the reader of the output.
    func flush() throws { try lock.withLock { try flushLocked() } }

    func finish() throws { try flush() }
    func cancel() {}

    private func flushLocked() throws {
        var rest = buffer[...]
        defer { buffer.removeAll(keepingCapacity: true) }
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN {
                    // A nonblocking output, such as a pipe that another program shares: wait for its reader.
                    var request = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&request, 1, -1)
                    continue
                }
                if errno == EPIPE { throw ToolError.closedOutput }
                throw ToolError(.failure, "The output cannot be written: \(String(cString: strerror(errno))).")
            }
            rest = rest.dropFirst(count)
        }
    }
}
