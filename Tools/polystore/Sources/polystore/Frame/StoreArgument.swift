import ArgumentParser
import PolyStoreCore

/// The argument of every command that reads one store.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The store: a URL such as sqlite:company.sqlite, or a path.", completion: .file())
    var store: String

    @Flag(help: "Write what the library reports to standard error.")
    var verbose = false

    /// Opens the store read-only, or for a command that changes it.
    /// - Parameter history: The history that the commits of the command get.
    func open(forWriting isWritable: Bool = false, history: HistoryOptions? = nil) throws -> OpenStore {
        try OpenStore(StoreLocation(existing: store), forWriting: isWritable, history: history, verbose: verbose)
    }
}
