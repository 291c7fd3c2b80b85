import ArgumentParser
import PolyStoreCore

/// The number of objects of an entity that satisfy a condition.
struct CountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "count", abstract: "Prints the number of objects of an entity that satisfy a condition.",
        discussion: "The exit code is 1 if the number is 0.")

    @OptionGroup var source: StoreArgument
    @OptionGroup var target: EntityArgument
    @OptionGroup var condition: ConditionArgument

    func run() async throws {
        let opened = try source.open()
        _ = try opened.entity(target.entity)
        let query = condition.query(target.entity)
        let count = try await opened.reading { try $0.fetchCount(query) }
        try StandardOutput.shared.write("\(count)\n")
        if count == 0 { throw ToolError.nothingFound }
    }
}
