import EngineTestSupport
import Foundation
import PolyStoreBackend
import SmallStores

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("fault-child: \(message)\n".utf8))
    exit(2)
}

/// Returns a configuration with small limits, so that a few commits rotate files, grow maps and checkpoint logs.
func configuration(_ engine: String, _ path: String) -> StoreConfiguration {
    guard engine != "memory", let found = SmallStores.configuration(engine, path, writeBufferSize: 64 << 10, pageSize: 1024) else {
        fail("Unknown engine with files: \(engine).")
    }
    return found
}

/// - Parameter isSearched: Whether the schema has the full-text indexes of the items. A store that is opened without them drops them, and one that is opened with
///   them builds them in the background.
func openStore(_ engine: String, _ path: String, isSearched: Bool = true) throws -> Store {
    try Store(configuration(engine, path), try Truth.schema(isSearched: isSearched))
}

/// Returns an error as one line.
func summary(_ error: any Error) -> String {
    let text = (error as? StoreError).map { "\($0.code): \($0.message) \($0.underlying ?? "")" } ?? "no StoreError: \(error)"
    return String(text.replacingOccurrences(of: "\n", with: " ").prefix(300))
}

/// The acknowledgements. The preload library records them in order with the system calls of the engines.
final class Marks {
    private let descriptor: Int32

    init() {
        if let path = ProcessInfo.processInfo.environment["FAULTS_MARKS"] {
            descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            if descriptor < 0 { fail("The marker file \(path) cannot be opened.") }
        } else {
            descriptor = 1
        }
    }

    func put(_ line: String) {
        let text = Array((line + "\n").utf8)
        guard write(descriptor, text, text.count) == text.count else { fail("A marker cannot be written.") }
    }
}
