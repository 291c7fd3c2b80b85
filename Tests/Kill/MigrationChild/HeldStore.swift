import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels

/// A store that this process has open while another one migrates it.
///
/// Prints `open`, and a line for each line of input: `add NUMBER` commits an object and prints `added`, `read` prints the numbers of all objects, and `reopen` closes
/// and opens the store and prints `open`. A command that fails prints the code of its error.
struct HeldStore {
    private let configuration: StoreConfiguration
    private let stack: DataStack

    init(_ configuration: StoreConfiguration) throws {
        self.configuration = configuration
        stack = try DataStack(Schema("Held 1", Plain.self), logger: SilentLogger())
        try stack.addStore(configuration)
    }

    func run() throws {
        answer("open")
        while let line = readLine() {
            do { answer(try execute(line.split(separator: " "))) } catch let error as StoreError { answer("\(error.code)") }
        }
    }

    private func answer(_ text: String) {
        print(text)
        fflush(nil)
    }

    private func execute(_ words: [Substring]) throws -> String {
        switch words.first {
        case "add":
            let number = words.last.flatMap { Int($0) } ?? 0
            try stack.performAndWait { try $0.create(Into<Plain>()).number = number }
            return "added"
        case "read": return "\(try stack.readAndWait { try $0.fetchAll(From<Plain>()).map(\.number).sorted() })"
        case "reopen":
            try stack.closeAndWait()
            try stack.addStore(configuration)
            return "open"
        default: return "unknown command"
        }
    }
}
