import ArgumentParser
import BrowserData
import PolyStoreCore

import enum PolyStoreBackend.AttributeType

/// Functions of the objects of an entity, for each group of them.
struct GroupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group", abstract: "Prints counts, sums, averages and other functions of groups of objects.",
        discussion: """
            The functions are count(*), count, countDistinct, sum, average, min, max, stddev, median and mode. --order and --having use the names of columns, \
            and functions of attributes.

            EXAMPLES
              polystore group atlas.db City --by country.continent.name \\
                --select "count(*) as cities, sum(population) as people" \\
                --order "people desc"
              polystore group atlas.db City "population > 100000" \\
                --by country.name --having "count > 100"
            """)

    @OptionGroup var source: StoreArgument
    @OptionGroup var target: EntityArgument
    @OptionGroup var condition: ConditionArgument
    @Option(
        help: ArgumentHelp(
            "The values that define the groups, separated by commas; none for one group of all objects.", valueName: "paths"),
        completion: .custom(Completions.paths))
    var by: String?
    @Option(help: ArgumentHelp("The functions, each with an optional name.", valueName: "terms"))
    var select = "count(*) as count"
    @Option(help: ArgumentHelp("A condition on the groups: \"count > 10\".", valueName: "condition"))
    var having: String?
    @OptionGroup var slice: SliceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let opened = try source.open()
        let entity = EntityProperties(try opened.entity(target.entity), name: target.entity, in: opened.schema)
        let keys = try by.map { try TermList.parts($0, option: "--by").map(TermList.named) } ?? []
        let selected = try TermList.parts(select, option: "--select").map(TermList.named)
        let columns = GroupColumns(keys: keys, selected: selected, of: entity, showsLabels: output.format == .table)
        let query = try slice.apply(to: condition.query(target.entity), of: entity)
        let (output, having) = (output, having)
        let count = try await opened.reading { context in
            let rows = try context.queryAttributes(query, Select(columns.terms), groupBy: columns.groups, having: having)
            guard !rows.isEmpty || output.format != .table else { return 0 }
            for row in rows { try output.check(columns.cells(row), columns.titles) }
            let table = try output.rows(columns.titles)
            for row in rows { try table.write(columns.cells(row)) }
            try table.finish()
            return rows.count
        }
        if count == 0 { throw ToolError(.nothingFound, output.format == .table ? "No group was found." : "") }
    }
}

/// The columns of groups: first what defines them, then functions.
private struct GroupColumns: Sendable {
    let terms: [SelectTerm]
    let groups: [String]
    let titles: [String]
    /// The columns with the names of the objects of a column, by title.
    private let labels: [String: String]
    /// The types of attributes, by title.
    private let types: [String: AttributeType]

    init(keys: [(text: String, name: String?)], selected: [(text: String, name: String?)], of entity: EntityProperties, showsLabels: Bool) {
        var (labels, labelPaths) = ([String: String](), [String]())
        for key in keys where showsLabels {
            guard case .relationship(let relationship)? = entity.property(at: key.text), !relationship.isToMany,
                let target = entity.schema.entities.first(where: { $0.name == relationship.destination }),
                let label = EntityProperties(target, in: entity.schema).label
            else { continue }
            let path = "\(key.text).\(label.asPath)"
            labels[key.name ?? key.text] = path
            labelPaths.append(path)
        }
        let columns = keys + selected
        terms = columns.map { SelectTerm($0.text, as: $0.name ?? $0.text) } + labelPaths.map { SelectTerm($0, as: $0) }
        groups = keys.map(\.text) + labelPaths
        titles = columns.map { $0.name ?? $0.text }
        self.labels = labels
        types = Dictionary(
            columns.compactMap { column in entity.type(of: column.text).map { (column.name ?? column.text, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    func cells(_ row: QueryRow) -> [Cell] {
        titles.map { title in
            var cell = Cell(row[title], types[title])
            if let label = labels[title], case .text(let text)? = row[label], !text.isEmpty { cell.text = text }
            return cell
        }
    }
}
