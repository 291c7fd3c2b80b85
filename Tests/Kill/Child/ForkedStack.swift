import EngineTestSupport
import Foundation
import PolyStore

/// Checks that a child process created with `fork` cannot use a stack of its parent.
enum ForkedStack {
    static func run(_ stack: DataStack) throws {
        try add(stack)
        let status = try forked {
            attempt("read") { _ = try stack.readAndWait { try $0.fetchCount(From<Counter>()) } }
            attempt("perform") { try add(stack) }
            attempt("transaction") { try stack.performAndWait { _ = try $0.fetchOne(From<Counter>()) } }
            attempt("unsafe") { _ = try stack.beginUnsafe().fetchOne(From<Counter>()) }
        }
        say("the child has ended \(status)")
        try add(stack)
        let count = try stack.readAndWait { try $0.fetchCount(From<Counter>()) }
        say(count == 2 ? "the parent continues" : "the parent finds \(count)")
    }

    private static func add(_ stack: DataStack) throws { try stack.performAndWait { _ = try $0.create(Into<Counter>()) } }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private static func attempt(_ what: String, _ body: () throws -> Void) {
        do {
            try body()
            say("\(what) ok")
        } catch let error as StoreError { say("\(what) \(error.code)") } catch { say("\(what) \(error)") }
    }
}
