internal import CSpawn
package import Foundation

/// A process that runs a program.
///
/// Foundation's `Process` copies the names of all open files from a buffer, beyond its end if there are some 1,300, as in tests that run in parallel, and can end the caller with that.
package final class ChildProcess: @unchecked Sendable {  // the state is guarded by the lock
    /// Where a stream of the process leads.
    package enum Stream {
        /// The stream of the caller.
        case inherited
        /// The null device: a read returns no bytes, and written bytes are discarded.
        case null
        /// A pipe whose other end is the handle of this object.
        case pipe
        /// A file that is open.
        case file(FileHandle)
    }

    /// The program could not be started.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let processIdentifier: Int32
    /// The writing end of the standard input, if that is a pipe.
    package let input: FileHandle?
    /// The reading end of the standard output, if that is a pipe.
    package let output: FileHandle?
    private let lock = NSLock()
    private var status: Int32?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: A path, or a name that is searched in `PATH`.
    ///   - arguments: The arguments, without the name of the program.
    ///   - directory: The current folder of the process; `nil` for that of the caller.
    package init(
        _ program: String, _ arguments: [String], in directory: String? = nil, input: Stream = .null, output: Stream = .inherited,
        errors: Stream = .inherited
    ) throws {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        opened.append(null)

        /// Returns the descriptor for the process, and the end of the pipe that stays here.
        func descriptor(_ stream: Stream, _ number: Int32) throws -> (Int32, FileHandle?) {
            switch stream {
            case .inherited: return (number, nil)
            case .null: return (null, nil)
            case .file(let handle): return (handle.fileDescriptor, nil)
            case .pipe:
                var ends: [Int32] = [-1, -1]
                let error = polystore_spawn_pipe(&ends)
                guard error == 0 else { throw Failure(description: "Cannot make a pipe: \(String(cString: strerror(error)))") }
                let (own, other) = number == 0 ? (ends[1], ends[0]) : (ends[0], ends[1])
                opened.append(other)
                return (other, FileHandle(fileDescriptor: own, closeOnDealloc: true))
            }
        }

        let (reading, writer) = try descriptor(input, 0)
        let (writing, reader) = try descriptor(output, 1)
        let (failing, _) = try descriptor(errors, 2)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier: Int32 = 0
        let error = polystore_spawn(&identifier, program, &words, directory, reading, writing, failing)
        guard error == 0 else { throw Failure(description: "Cannot run \(program): \(String(cString: strerror(error)))") }
        processIdentifier = identifier
        self.input = writer
        self.output = reader
    }

    deinit { kill() }

    /// Waits for the end of the process. Returns its exit status; 128 and the number of the signal that ended it.
    @discardableResult
    package func wait() -> Int32 {
        // Without the lock, so that another thread can send a signal meanwhile.
        if !hasEnded { _ = polystore_spawn_await(processIdentifier) }
        lock.lock()
        defer { lock.unlock() }
        if let status { return status }
        let status = polystore_spawn_reap(processIdentifier)
        self.status = status
        return status
    }

    /// A Boolean value that indicates whether the end of the process was waited for.
    private var hasEnded: Bool {
        lock.lock()
        defer { lock.unlock() }
        return status != nil
    }

    /// Kills the process with SIGKILL, if it has not ended, and waits for its end.
    package func kill() {
        signal(SIGKILL)
        wait()
    }

    /// Sends a signal to the process, unless its end was waited for.
    package func signal(_ number: Int32) {
        lock.lock()
        defer { lock.unlock() }
        // Until then its id is not given to another process.
        if status == nil { _ = Foundation.kill(processIdentifier, number) }
    }
}
