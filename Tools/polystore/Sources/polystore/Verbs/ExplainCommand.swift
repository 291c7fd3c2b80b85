import ArgumentParser
import PolyStoreCore

/// How a store executes a query.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Shows how the store executes a query: the index it uses, and the rows it examines.",
        discussion: "The query is executed. The output depends on the engine.")

    @OptionGroup var source: StoreArgument
    @OptionGroup var target: EntityArgument
    @OptionGroup var condition: ConditionArgument
    @OptionGroup var slice: SliceOptions

    func run() async throws {
        let opened = try source.open()
        _ = try opened.entity(target.entity)
        let query = try slice.apply(to: condition.query(target.entity))
        let text = try await opened.reading { try $0.explain(query) }
        try StandardOutput.shared.write(text + "\n")
    }
}
