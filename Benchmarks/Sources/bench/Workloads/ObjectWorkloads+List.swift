import PeerKit
import PolyStoreCore

extension ObjectWorkloads {
    /// W13: updates an ordered list of a tenth of all persons after each of a hundred commits by fetching it again. Half of the
    /// changes move a person within the list, into it or out of it; the other half revert that.
    @MainActor
    func keepListCurrent() throws {
        let stack = try store.stack()
        let ids = try people(stack)
        let changes = listChanges(permutation())
        let source = From<Person>().where(\.age < PB.listAge).orderBy(.ascending(\.age))
        let view = stack.view
        let screen = Screen(try view.fetchAll(source))
        var hash = listHash(0, screen.list)
        let start = Stamp()
        for change in changes {
            try stack.performAndWait(durability: .relaxed) { transaction in try transaction.edit(ids[Int(change.id) - 1]).age = change.age }
            screen.list = try view.fetchAll(source)
            hash = listHash(hash, screen.list)
        }
        out.emit("W13", changes.count, start, Stamp(), check: hash, note: "fetched again")
    }

    /// W13m: the same with a monitor, which updates its list from the committed changes.
    @MainActor
    func monitorList() throws {
        let stack = try store.stack()
        let ids = try people(stack)
        let changes = listChanges(permutation())
        let monitor = try stack.view.monitorList(From<Person>().where(\.age < PB.listAge).orderBy(.ascending(\.age)))
        var hash = listHash(0, Array(monitor))
        let shown = Array(monitor)
        let start = Stamp()
        for change in changes {
            try stack.performAndWait(durability: .relaxed) { transaction in try transaction.edit(ids[Int(change.id) - 1]).age = change.age }
        }
        let end = Stamp()
        hash = listHash(hash, Array(monitor))
        withExtendedLifetime(shown) { out.emit("W13m", changes.count, start, end, check: hash, note: "monitored") }
    }

    /// Keeps a list alive. The compiler could release the objects of an unused variable before the next fetch.
    private final class Screen {
        var list: [Person]

        init(_ list: [Person]) { self.list = list }
    }
}
