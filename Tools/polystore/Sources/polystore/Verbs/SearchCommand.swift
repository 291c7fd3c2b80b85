import ArgumentParser
import BrowserData
import PolyStoreBackend
import PolyStoreCore

/// The objects of an entity that match a full-text search, best first.
struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Prints the objects of an entity that match a full-text search, best first.",
        discussion: """
            The entity needs a full-text index (#Search). All words must match, in any of its attributes; case and accents do not matter. OR, -word, "a phrase", prefix*, \
            NEAR(a b, 5), title:word and parentheses are operators; what is none in its place is searched as text. A text that begins with - \
            follows --, after the options. A table shows the place that was found in [brackets].

            EXAMPLES
              polystore search atlas.db Airport "london -heli*"
              polystore search atlas.db Airport "town:paris -heli*" \\
                "elevationFeet < 500" --limit 3
              polystore search notes.db Note '"lazy dog" OR cat' --format jsonl
            """)

    @OptionGroup var source: StoreArgument
    @OptionGroup var target: EntityArgument
    @Argument(help: ArgumentHelp("What is searched for.", valueName: "text"))
    var text: String
    @OptionGroup var condition: ConditionArgument
    @Option(
        help: ArgumentHelp("The name of the full-text index, if the entity has several.", valueName: "name"),
        completion: .custom(Completions.searchIndexes))
    var index = ""
    @Flag(help: "Refuse a search with a mistake, and show its place.")
    var strict = false
    @Option(
        help: ArgumentHelp(
            "The columns after the score; the default is the id and the attributes of the index.", valueName: "terms"),
        completion: .custom(Completions.paths))
    var columns: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("The greatest number of rows.", valueName: "count"))
    var limit = 20
    @Option(parsing: .unconditional, help: ArgumentHelp("The number of rows to leave out.", valueName: "count"))
    var offset = 0
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit is a number of rows, not \(limit).") }
        if offset < 0 { throw ValidationError("--offset is a number of rows, not \(offset).") }
    }

    func run() async throws {
        let opened = try source.open()
        let entity = EntityProperties(try opened.entity(target.entity), name: target.entity, in: opened.schema)
        let declared = try searchIndex(of: entity)
        let search = try parsed()
        let terms = try columns.map(Self.terms) ?? Self.columns(declared, entity)
        let columns = RowColumns(terms, of: entity, showsLabels: output.format == .table)
        let query = condition.query(target.entity).search(search, in: index).limit(limit).offset(offset)
        let (output, places) = (output, try FoundPlaces(search, declared, terms.map { PathNames($0.text)?.names }))
        let title = Self.scoreTitle(columns.titles)
        let score = Select([SelectTerm.score(search, in: index, as: "score")])
        let count = try await opened.reading { context in
            let rows = try output.rows([title] + columns.titles)
            let scores = try context.queryAttributes(query, score).map { Cell($0["score"], .double) }
            var count = 0
            _ = try columns.read(query, isDistinct: false, in: context) { row in
                let shown = output.format == .table ? places.marked(row) : row
                try rows.write([scores[count]] + shown)
                count += 1
            }
            if count > 0 || output.format != .table { try rows.finish() }
            return count
        }
        guard count == 0 else { return }
        throw ToolError(.nothingFound, output.format == .table ? "No object of \(target.entity) matches." : "")
    }

    /// Returns the index that the search uses.
    private func searchIndex(of entity: EntityProperties) throws -> SearchIndexDescription {
        let all = entity.entity.searchIndexes
        if let found = all.first(where: { $0.name == index }) ?? (index.isEmpty && all.count == 1 ? all.first : nil) { return found }
        let names = all.map { $0.name.isEmpty ? "the one without a name" : "\"\($0.name)\"" }.joined(separator: ", ")
        throw ToolError(
            .usage,
            all.isEmpty
                ? "\(target.entity) has no full-text index. Declare one in its class with #Search, or use CONTAINS[cd] in a condition."
                : "\(target.entity) has the full-text indexes \(names). Name one with --index.")
    }

    private func parsed() throws -> Search {
        guard strict else { return Search(text) }
        do { return try Search(query: text) } catch { throw ToolError(.usage, "\(error)") }
    }

    /// Returns a title for the scores that no other column has.
    private static func scoreTitle(_ titles: [String]) -> String {
        var title = titles.contains("score") ? "searchScore" : "score"
        while titles.contains(title) { title += "'" }
        return title
    }

    /// Returns the terms of `--columns`.
    /// - Throws: `usage` for a value of all objects together.
    private static func terms(_ text: String) throws -> [(text: String, name: String?)] {
        let terms = try TermList.parts(text, option: "--columns").map(TermList.named)
        if let term = terms.first(where: { TermList.isAggregate($0.text) }) {
            throw ToolError(
                .usage,
                "\"\(term.text)\" is a value of all objects together, and a search prints a row for each. Use polystore group with a condition such as SEARCH 'text'."
            )
        }
        return terms
    }

    private static func columns(_ index: SearchIndexDescription, _ entity: EntityProperties) -> [(text: String, name: String?)] {
        let label = entity.label.map { index.fields.contains($0) ? [] : [$0] } ?? []
        let names = label + index.fields
        return (names.contains(RowColumns.id) ? [] : [(RowColumns.id, nil)]) + names.map { ($0.asPath, $0) }
    }
}

/// The places of texts at which a search found something.
private struct FoundPlaces: Sendable {
    private let matcher: SearchMatcher
    /// The field of the index that each column shows; nil for other columns.
    private let fields: [Int?]
    private let count: Int

    /// - Parameter columns: The path of names that each column shows; nil for a calculation.
    init(_ search: Search, _ index: SearchIndexDescription, _ columns: [[String]?]) throws {
        let resolved: ResolvedSearch
        do { resolved = try search.resolved(fields: index.fields, options: index.options) } catch { throw ToolError(.usage, "\(error)") }
        matcher = SearchMatcher(resolved, index.options)
        fields = columns.map { path in index.fields.firstIndex { [$0] == path } }
        count = index.fields.count
    }

    /// Returns a row whose texts are reduced to the best place of each, with brackets around what was found.
    func marked(_ row: [Cell]) -> [Cell] {
        zip(row, fields).map { cell, field in
            guard let field, case .string(let text) = cell.json else { return cell }
            var texts = [String?](repeating: nil, count: count)
            texts[field] = text
            guard !matcher.highlightedBytes(in: text, field: field).isEmpty, let snippet = matcher.snippet(of: texts) else { return cell }
            return Cell(json: cell.json, text: snippet.highlighted(prefix: "[", suffix: "]"))
        }
    }
}
