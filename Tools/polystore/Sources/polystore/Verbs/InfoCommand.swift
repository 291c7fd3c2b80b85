import ArgumentParser
import Foundation
import PolyStoreCore
import PolyStoreFormats

import struct PolyStoreBackend.StoreConfiguration

/// The command that shows the properties and the contents of a store.
struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Shows what a store is: its engine, size, schema, and the number of objects of each entity.")

    @OptionGroup var source: StoreArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let opened = try source.open()
        let statistics = try await opened.store.statistics()
        let facts = Self.facts(opened, statistics)
        switch output.format {
        case .json, .jsonl:
            var object = JSONObject(facts.map { ($0.name, $0.value.json) })
            object["entities"] = .object(JSONObject(counts(opened, statistics).map { ($0.name, JSONValue($0.count)) }))
            try StandardOutput.shared.write("\(JSONValue(object))\n")
        case .csv, .table:
            if output.format == .table {
                let width = (facts.map(\.title.count).max() ?? 0) + 2
                for fact in facts {
                    try StandardOutput.shared.write("\(fact.title.padding(toLength: width, withPad: " ", startingAt: 0))\(fact.text)\n")
                }
                try StandardOutput.shared.write("\n")
            }
            let rows = try output.rows(["entity", "objects"])
            for (name, count) in counts(opened, statistics) { try rows.write([Cell(name), Cell(count)]) }
            try rows.finish()
        }
    }

    private struct Fact {
        let name: String
        let title: String
        let value: Cell
        let text: String
    }

    private static func facts(_ opened: OpenStore, _ statistics: StoreStatistics) -> [Fact] {
        let engine = opened.location.configuration.engine
        var facts = [
            Fact(name: "store", title: "Store", value: Cell(opened.location.name), text: opened.location.name),
            Fact(name: "engine", title: "Engine", value: Cell(engine), text: engine),
            Fact(
                name: "size", title: "Size", value: Cell(statistics.fileSize),
                text: statistics.fileSize == 0 ? "on the server" : "\(statistics.fileSize.grouped) bytes"),
            Fact(name: "schema", title: "Schema", value: Cell(opened.schema.name), text: opened.schema.name),
            Fact(name: "id", title: "Id", value: Cell(opened.store.storeID), text: opened.store.storeID),
            Fact(name: "commits", title: "Commits", value: Cell(Int(clamping: statistics.version)), text: statistics.version.grouped),
        ]
        if let configuration = opened.store.configurationName {
            facts.append(Fact(name: "configuration", title: "Configuration", value: Cell(configuration), text: configuration))
        }
        return facts
    }

    private func counts(_ opened: OpenStore, _ statistics: StoreStatistics) -> [(name: String, count: Int)] {
        opened.entityNames.compactMap { name in statistics.objectCounts[name].map { (name, $0) } }
    }
}
