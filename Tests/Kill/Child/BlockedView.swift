import Dispatch
import Foundation
import PolyStore

/// Commits on another thread while the main actor, whose view follows the commits, is blocked.
enum BlockedView {
    /// Prints the memory growth of the process in the last four fifths of the commits, and the state of the view afterwards.
    @MainActor
    static func run(commits: Int) throws {
        let stack = try DataStack(Schema("Blocked", Counter.self))
        try stack.addStore(.inMemory())
        let id = try stack.performAndWait { try $0.create(Into<Counter>()).objectID }
        // After this fetch the view follows the commits.
        _ = try stack.view.fetchCount(From<Counter>())
        let done = DispatchSemaphore(value: 0)
        DispatchQueue(label: "writer").async {
            do {
                try commit(1...commits / 5, id, stack)
                let before = try residentBytes()
                try commit(commits / 5 + 1...commits, id, stack)
                print("\((try residentBytes() - before) >> 20) MiB")
            } catch { fail("\(error)") }
            done.signal()
        }
        done.wait()
        try stack.view.refresh()
        print("the counter is at \(try stack.view.fetchOne(From<Counter>())?.value ?? -1)")
        fflush(nil)
    }

    private nonisolated static func commit(_ values: ClosedRange<Int>, _ id: ObjectID<Counter>, _ stack: DataStack) throws {
        for value in values { try stack.performAndWait { try $0.edit(id).value = value } }
    }

    private nonisolated static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize())
    }
}
