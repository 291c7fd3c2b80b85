import ArgumentParser
import BrowserData
import Foundation
import PolyStoreCore
import PolyStoreFormats

/// The transactions that the history of a store has recorded.
struct HistoryCommand: AsyncParsableCommand {
    /// A form of the history.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, jsonl
    }

    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Prints the recorded transactions: their authors, and the objects that they changed.",
        discussion: """
            A store has a history if its program records one. An update lists the changed properties, with the previous value if it was recorded. The last line of text is a \
            token: --since TOKEN continues there. With --follow the command waits for further transactions, of any process, until Ctrl-C.

            EXAMPLES
              polystore history atlas.db --since 2026-01-31 --entity City
              polystore history atlas.db --follow --format jsonl
            """)

    @OptionGroup var source: StoreArgument
    @Option(help: ArgumentHelp("The point to begin after: a token that the command printed, or a date.", valueName: "token|date"))
    var since: String?
    @Option(help: ArgumentHelp("Print changes of one entity and its subentities only.", valueName: "entity"))
    var entity: String?
    @Option(help: ArgumentHelp("Print transactions of one author only.", valueName: "name"))
    var author: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("The greatest number of transactions.", valueName: "count"))
    var limit: Int?
    @Flag(help: "Wait for further transactions.")
    var follow = false
    @Option(help: "The form of the output.")
    var format = Format.text

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is a number of transactions, not \(limit).") }
    }

    func run() async throws {
        let opened = try source.open()
        let filter = try filter(opened)
        var token: HistoryToken?
        if case .token(let since)? = try since.map({ try HistoryPoint($0, option: "--since") }) { token = since }
        var (count, hasMore) = (0, true)
        // In parts, so that a long history takes no more memory.
        while hasMore, count < limit ?? .max {
            let part = try await opened.stack.history(since: token, matching: filter, limit: min(256, (limit ?? .max) - count))
            for entry in part { try write(entry, opened) }
            (token, hasMore, count) = (part.token, part.hasMore, count + part.count)
            try Task.checkCancellation()
        }
        if follow, count < limit ?? .max { return try await follow(opened, since: token, filter, count) }
        guard count > 0 else {
            guard try await opened.hasHistory() else { throw opened.withoutHistory() }
            throw ToolError(.nothingFound, "No transaction was found.")
        }
        if format == .text, let token { try StandardOutput.shared.write("token \(token.text)\n") }
    }

    private func filter(_ opened: OpenStore) throws -> HistoryFilter {
        var filter = HistoryFilter.all
        if let entity {
            _ = try opened.entity(entity)
            filter = try opened.stack.historyFilter(of: entity)
        }
        if let author { filter = filter.author(author) }
        if case .date(let date)? = try since.map({ try HistoryPoint($0, option: "--since") }) {
            filter = filter.dates(date..<Date.distantFuture)
        }
        return filter
    }

    private func follow(_ opened: OpenStore, since token: HistoryToken?, _ filter: HistoryFilter, _ already: Int) async throws {
        var count = already
        try StandardOutput.shared.flush()
        for try await entry in opened.stack.followHistory(since: token, matching: filter) {
            try write(entry, opened)
            try StandardOutput.shared.flush()
            count += 1
            if count == limit { return }
        }
        try Task.checkCancellation()
    }

    // MARK: Output

    private func write(_ entry: HistoryEntry, _ opened: OpenStore) throws {
        guard format == .text else { return try StandardOutput.shared.write("\(JSONValue(try json(entry, opened)))\n") }
        if entry.followsUnrecordedCommits { try StandardOutput.shared.write("(commits of a program that records no history)\n") }
        let author = entry.author.map { "  by \(DisplayText($0).text)" } ?? ""
        try StandardOutput.shared.write("\(Cell(entry.date).text)  version \(entry.version)\(author)\n")
        for change in entry.changes { try StandardOutput.shared.write("  \(text(change, opened))\n") }
    }

    private func text(_ change: HistoryChange, _ opened: OpenStore) -> String {
        let keys = change.changedKeys.map { key in
            let name = DisplayText(key).text
            guard let value = change.previousValues[key] else { return name }
            return "\(name) (was \(DisplayText(opened.cell(value, key, of: change.entityName).text).text))"
        }
        return "\(change.kind) \(DisplayText(change.entityName).text) \(change.rowID)"
            + (keys.isEmpty ? "" : ": \(keys.joined(separator: ", "))")
    }

    private func json(_ entry: HistoryEntry, _ opened: OpenStore) throws -> JSONObject {
        let changes = entry.changes.map { change in
            let previous = change.previousValues.sorted { $0.key < $1.key }.map { key, value in
                (key, opened.cell(value, key, of: change.entityName).json)
            }
            return JSONValue(
                JSONObject([
                    ("kind", JSONValue("\(change.kind)")), ("entity", JSONValue(change.entityName)), ("objectID", JSONValue(change.rowID)),
                    ("properties", JSONValue(change.changedKeys.map { JSONValue($0) })), ("previous", JSONValue(JSONObject(previous))),
                ]))
        }
        return JSONObject([
            ("version", JSONValue(entry.version)), ("date", Cell(entry.date).json), ("author", entry.author.map { JSONValue($0) } ?? .null),
            ("followsUnrecorded", JSONValue(entry.followsUnrecordedCommits)), ("token", JSONValue(try entry.token.text)),
            ("changes", JSONValue(changes)),
        ])
    }
}
