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
        let lines = try await opened.reading { context in
            let plan = try context.explain(query)
            guard advise else { return [plan] }
            let advice = try context.indexAdvice(query)
            return [plan] + (advice.isEmpty ? [Self.noAdvice(target.entity)] : advice.map { "advice: \($0)" })
        }
        for text in lines { try StandardOutput.shared.write(text + "\n") }
    }

    private static func noAdvice(_ entity: String) -> String { "advice: no index of \(entity) would reduce the rows of it that are read" }
}
