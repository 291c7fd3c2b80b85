import ArgumentParser
import PolyStoreCore

/// How a store executes a query.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Shows how the store executes a query: the index it uses, and the rows it examines.",
        discussion: "The query is executed. The output depends on the engine. --advise counts the rows that possible indexes would find.")

    @OptionGroup var source: StoreArgument
    @OptionGroup var target: EntityArgument
    @OptionGroup var condition: ConditionArgument
    @OptionGroup var slice: SliceOptions
    @Flag(help: "Name the index that would let the query read the fewest rows, and their number.")
    var advise = false

    func run() async throws {
        let opened = try source.open()
        let entity = EntityProperties(try opened.entity(target.entity), name: target.entity, in: opened.schema)
        let query = try slice.apply(to: condition.query(target.entity), of: entity)
        let text = try await opened.reading { context in
            let plans = try context.explain(query)
            guard advise else { return plans }
            let advice = try context.indexAdvice(query)
            return
                ([plans]
                + (advice.isEmpty
                    ? ["advice: no index of \(target.entity) would reduce the rows of it that are read"] : advice.map { "advice: \($0)" }))
                .joined(
                    separator: "\n")
        }
        try StandardOutput.shared.write(text + "\n")
    }
}
