import ArgumentParser
import PolyStore
import PolyStoreLMDB
import PolyStoreSQLite

/// A list that is updated while another process writes.
///
///     livelist watch          # in one terminal
///     livelist write          # in another
@main
struct LiveListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "livelist", abstract: "Shows the departures of a station while another process changes them.",
        subcommands: [Watch.self, Write.self])
}

struct Store: ParsableArguments {
    @Option(help: "The store: sqlite:FILE or lmdb:FILE.") var store = "sqlite:livelist.sqlite"

    func open() throws -> DataStack {
        StoreEngines.register([.sqlite, .lmdb])
        let stack = try DataStack(timetable)
        try stack.addStore(url: store)
        return stack
    }
}

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows the list and each change of it.")

    @OptionGroup var store: Store
    @Flag(help: "Print each change on a line instead of drawing the list again.") var plain = false
    @Option(help: "End after so many changes.") var changes: Int?

    @MainActor
    func run() async throws {
        let stack = try store.open()
        let monitor = try stack.view.monitorSectionedList(
            From<Train>().orderBy(.ascending(\.departure), .ascending(\.number)),
            SectionBy(\.departure) { "\($0 / 60 < 10 ? "0" : "")\($0 / 60):00" })
        let board = Board(isPlain: plain)
        monitor.addObserver(board)
        board.draw(monitor)
        while changes.map({ board.changeCount < $0 }) ?? true { try await Task.sleep(for: .milliseconds(50)) }
    }
}

struct Write: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Adds, delays, moves and removes trains, one change a commit.")

    @OptionGroup var store: Store
    @Option(help: "The number of changes.") var changes = 40
    @Option(help: "Milliseconds between two changes.") var pause = 400

    func run() async throws {
        let stack = try store.open()
        var writer = TimetableWriter()
        for _ in 0..<changes {
            let change = writer.next()
            try await stack.perform { transaction in try change.apply(transaction) }
            try await Task.sleep(for: .milliseconds(pause))
        }
    }
}
