import ArgumentParser
import PolyStoreCore

/// The schema that a store keeps.
struct SchemaCommand: AsyncParsableCommand {
    /// A form of a schema.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, mermaid
    }

    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the schema that the store keeps.",
        discussion: "text is for reading, json is exact, and mermaid is a class diagram.")

    @OptionGroup var source: StoreArgument
    @Option(help: "The form of the schema.")
    var format = Format.text

    func run() async throws {
        let schema = try source.open().schema
        switch format {
        case .text: try StandardOutput.shared.write(SchemaText(schema).text)
        case .json: try StandardOutput.shared.write(String(decoding: schema.encoded(), as: UTF8.self) + "\n")
        case .mermaid: try StandardOutput.shared.write(SchemaDiagram(schema).text)
        }
    }
}
