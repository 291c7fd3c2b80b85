import Foundation
import PeerKit
import PolyStoreBackend
import PolyStoreCore

/// W20: the cost of many small changes, each at n and at 4 n. The time of each row must be proportional to n.
///
/// `W20_ROWS` selects rows, separated by commas; `W20_PART=setup` skips the measured part, so that its instructions can be
/// subtracted; `W20_SIZES=1` measures at n only; `W20_TURNS` repeats each row and uses the minimum. `W20_PLAIN=1` measures ``PlainCliffs`` as well.
final class CliffWorkloads {
    /// The kind of transaction in which a row runs.
    enum Kind: String, CaseIterable {
        case perform, unsafe, child
    }

    /// The objects of a row: two holders and n items, all stored before.
    struct Scene {
        let transaction: Transaction
        let first: Holder
        let second: Holder
        let items: [Item]
    }

    struct Row {
        let name: String
        var kind = Kind.perform
        /// A Boolean value that indicates whether the commit is measured too.
        var commits = false
        /// Creates the stored objects.
        var fill: (Scene) throws -> Void = { _ in }
        /// The preparation before the measurement.
        var before: (Scene) throws -> Void = { _ in }
        let body: (Scene) throws -> Void
    }

    private let store: BenchStore
    private let isSetup: Bool

    init(_ store: BenchStore) {
        self.store = store
        isSetup = Self.setting("W20_PART") == "setup"
    }

    private static func setting(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    func all() throws {
        let wanted = Self.setting("W20_ROWS").map { Set($0.split(separator: ",").map(String.init)) }
        let turns = Self.setting("W20_TURNS").flatMap(Int.init) ?? 1
        let sizes = Self.setting("W20_SIZES") == "1" ? [PB.n] : [PB.n, 4 * PB.n]
        if Self.setting("W20_PLAIN") == "1" { PlainCliffs.all(store.out, sizes, turns: turns, wanted: wanted.map(Self.withoutKinds)) }
        for row in Self.rows where wanted?.contains(row.name) ?? true {
            for n in sizes {
                var least = Double.infinity
                var wall = Double.infinity
                for _ in 0..<turns {
                    let (seconds, cpu) = try measure(row, n)
                    (wall, least) = (min(wall, seconds), min(least, cpu))
                }
                store.out.emit("W20 " + row.name, n, seconds: wall, cpu: least)
            }
        }
    }

    /// The names of rows, without the kind of transaction.
    private static func withoutKinds(_ names: Set<String>) -> Set<String> {
        Set(names.map { $0.replacingOccurrences(of: "-unsafe", with: "").replacingOccurrences(of: "-child", with: "") })
    }

    private func measure(_ row: Row, _ n: Int) throws -> (wall: Double, cpu: Double) {
        let stack = try DataStack(Schema("Cliffs", Holder.self, Item.self))
        try stack.addStore(store.configuration("cliffs-\(UUID().uuidString)"))
        let clock = Clock()
        func isolated(_ body: (Transaction) throws -> Void) throws {
            try withoutActuallyEscaping(body) { body in
                nonisolated(unsafe) let body = body  // called on this thread, before the call returns
                try stack.performAndWait { try body($0) }
            }
        }
        try isolated { transaction in
            let holders = try (0..<2).map { _ in try transaction.create(Into<Holder>()) }
            var items: [Item] = []
            for number in 0..<n {
                let item = try transaction.create(Into<Item>())
                item.number = number
                items.append(item)
            }
            try row.fill(Scene(transaction: transaction, first: holders[0], second: holders[1], items: items))
        }
        func run(_ transaction: Transaction) throws {
            let holders = try transaction.fetchAll(From<Holder>())
            let items = try transaction.fetchAll(From<Item>().orderBy(.ascending(\.number)))
            let scene = Scene(transaction: transaction, first: holders[0], second: holders[1], items: items)
            try row.before(scene)
            clock.start()
            if !isSetup { try row.body(scene) }
            if !row.commits { clock.stop() }
        }
        switch row.kind {
        case .perform: try isolated { try run($0) }
        case .unsafe:
            let draft = stack.beginUnsafe(supportsUndo: row.name.hasPrefix("undo"))
            try run(draft)
            if row.commits { try draft.commit() }
        case .child:
            let draft = stack.beginUnsafe()
            let child = draft.beginUnsafe()
            try run(child)
            if row.commits {
                try child.commit()
                try draft.commit()
            }
        }
        clock.stop()
        return clock.taken
    }

    private final class Clock {
        private var from = Stamp()
        private var to: Stamp?

        func start() { from = Stamp() }
        func stop() { if to == nil { to = Stamp() } }
        var taken: (wall: Double, cpu: Double) { to.map { ($0.wall - from.wall, $0.cpu - from.cpu) } ?? (0, 0) }
    }
}
