import ArgumentParser
import PolyStoreCore

/// The schema that a store keeps.
struct SchemaCommand: AsyncParsableCommand {
    /// A form of a schema.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, mermaid, swift
    }

    /// An access level of classes.
    enum Access: String, ExpressibleByArgument, CaseIterable {
        case `internal`, package, `public`
    }

    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the schema that the store keeps.",
        discussion: """
            text is for reading, json is exact, mermaid is a class diagram, and swift is the source of @Model classes that open the store. What classes do not express as the schema \
            does is a comment of the source.
            """)

    @OptionGroup var source: StoreArgument
    @Option(help: "The form of the schema.")
    var format = Format.text
    @Option(help: "The access level of the classes in swift.")
    var access = Access.internal
    @Option(
        help: ArgumentHelp(
            "The name of an enum around the classes in swift, to distinguish the classes of several versions.", valueName: "name"))
    var namespace: String?

    func validate() throws {
        guard format != .swift, access != .internal || namespace != nil else { return }
        throw ValidationError("--access and --namespace belong to --format swift.")
    }

    func run() async throws {
        let schema = try source.open().schema
        switch format {
        case .text: try StandardOutput.shared.write(SchemaText(schema).text)
        case .json: try StandardOutput.shared.write(String(decoding: schema.encoded(), as: UTF8.self) + "\n")
        case .swift:
            let options = ModelSource.Options(access: ModelSource.Access(rawValue: access.rawValue) ?? .internal, namespace: namespace)
            try StandardOutput.shared.write(ModelSource(schema, options: options).text)
        case .mermaid: try StandardOutput.shared.write(SchemaDiagram(schema).text)
        }
    }
}
