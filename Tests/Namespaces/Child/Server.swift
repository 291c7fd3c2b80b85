import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStorePostgreSQL
import TestModels

/// Answers what a test asks about a store: whether this program can read it, write to it and open it, and what a live list shows.
struct Server {
    private let stack: DataStack
    private let url: String
    /// The number of people that the live list shows; nil before its first state.
    private let listed = Protected<Int?>(nil)

    init(_ stack: DataStack, _ url: String) { (self.stack, self.url) = (stack, url) }

    /// Answers each line of the standard input, until it ends.
    func run() {
        let (stack, listed) = (stack, listed)
        Task.detached { for try await people in stack.snapshots(of: From<Person>()) { listed.signal { $0 = people.count } } }
        write("ready")
        while let line = readLine() {
            do { write(try answer(to: line.split(separator: " ").map(String.init))) } catch let error as StoreError {
                write("\(error.code)")
            } catch { write("\(error)") }
        }
    }

    private func answer(to words: [String]) throws -> String {
        switch words.first {
        case "read": return try count(stack)
        case "write":
            try stack.performAndWait { try $0.create(Into<Person>()).email = words.last ?? "" }
            return "works"
        case "list":
            let count = words.last.flatMap { Int($0) }
            listed.wait(until: { $0 == count }, { _ in })
            return words.last ?? ""
        case "open":
            let other = try DataStack(Schema("Company 1", Person.self, Department.self, Project.self))
            try other.addStore(.postgreSQL(url))
            return try count(other)
        default: return "unknown"
        }
    }

    private func count(_ stack: DataStack) throws -> String { "\(try stack.readAndWait { try $0.fetchCount(From<Person>()) })" }

    private func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
