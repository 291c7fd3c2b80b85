import ArgumentParser
import PolyStoreCore

/// The objects of an entity that satisfy a condition, as rows.
struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Prints the objects of an entity that satisfy a condition.",
        discussion: """
            Without --columns all attributes and to-one relationships are printed. A table shows related objects by their names; the other formats contain their ids.

            EXAMPLES
              polystore query atlas.db City "population > 5000000" \\
                --order "population desc" --limit 5
              polystore query atlas.db City "country.airports.@count == 0" \\
                --columns "name, country.name as country, population"
              polystore query atlas.db Country --format csv \\
                --columns "name, population / areaKm2 as density"
            """)

    @OptionGroup var source: StoreArgument
    @OptionGroup var target: EntityArgument
    @OptionGroup var condition: ConditionArgument
    @Option(
        help: ArgumentHelp(
            "The columns: attributes, paths and calculations, each with an optional name: \"name, country.name as country, cities.@count\".",
            valueName: "terms"), completion: .custom(Completions.paths))
    var columns: String?
    @Flag(help: "Print each distinct row once.")
    var distinct = false
    @OptionGroup var slice: SliceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let opened = try source.open()
        let entity = EntityProperties(try opened.entity(target.entity), name: target.entity, in: opened.schema)
        let named = try columns.map { try TermList.parts($0, option: "--columns").map(TermList.named) }
        let columns = RowColumns(named, of: entity, showsLabels: output.format == .table)
        let query = try slice.apply(to: condition.query(target.entity), of: entity, columns: named ?? [])
        let (output, isDistinct) = (output, distinct)
        let count = try await opened.reading { context in
            if output.format == .csv, columns.titles.count == 1 {
                _ = try columns.read(query, isDistinct: isDistinct, in: context) { try output.check($0, columns.titles) }
            }
            let rows = try output.rows(columns.titles)
            let count = try columns.read(query, isDistinct: isDistinct, in: context) { try rows.write($0) }
            if count > 0 || output.format != .table { try rows.finish() }
            return count
        }
        guard count == 0 else { return }
        throw ToolError(.nothingFound, output.format == .table ? "No object of \(target.entity) was found." : "")
    }
}
