import ArgumentParser
import BrowserData
import PolyStoreCore

/// Objects written to a file that an import reads.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the objects of an entity to a file that import reads.",
        discussion: """
            Every value is exact. A relationship is written as the unique ids of its targets, or as their row ids if their entity has no unique attribute. The objects of a \
            hierarchy have a field _entity with the name of their subentity. The file appears when it is complete: Ctrl-C leaves nothing of it.

            EXAMPLES
              polystore export atlas.db Country --output countries.csv
              polystore export atlas.db City "population > 1000000" --order name --properties "name, country" --output cities.jsonl.gz
              polystore export atlas.db Country | jq .name
            """)

    @OptionGroup var source: StoreArgument
    @OptionGroup var target: EntityArgument
    @OptionGroup var condition: ConditionArgument
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file; - for the output. A name that ends with .gz is compressed.", valueName: "file"), completion: .file())
    var output = "-"
    @Option(help: "The form of the records; by default that of the file's extension, and jsonl for the output.")
    var format: RecordFileFormat?
    @Option(help: ArgumentHelp("The attributes and relationships to write, in order; by default all.", valueName: "names"))
    var properties: String?
    @OptionGroup var fields: FieldNames
    @Flag(help: "Write the row id of each object into a field _id.")
    var ids = false
    @Flag(help: "Replace a file that exists.")
    var force = false
    @OptionGroup var slice: SliceOptions

    func run() async throws {
        let opened = try source.open()
        let entity = EntityProperties(try opened.entity(target.entity), name: target.entity, in: opened.schema)
        let query = try slice.apply(to: condition.query(target.entity), of: entity)
        let options = EntityExportOptions(
            properties: try properties.map { try TermList.parts($0, option: "--properties") }, names: try fields.names(),
            includesRowIDs: ids)
        let sink = ExportOutput()
        try await checkSingleColumn(opened, entity, query, options.properties)
        let destination = try RecordFile(path: output, format: format).destination(sink, replaces: force, of: opened.location)
        do {
            let report = try await opened.stack.startExport(query, to: destination, options: options).following()
            guard output != "-" else { return }
            try StandardOutput.shared.write("Exported \(report.objects.grouped) \(target.entity) to \(output).\n")
        } catch { throw sink.failure ?? error }
    }

    /// Checks, before anything is written, that CSV of one property has its values.
    /// - Throws: `usage` for a null, which would be a blank line that readers skip.
    private func checkSingleColumn(_ opened: OpenStore, _ entity: EntityProperties, _ query: EntityQuery, _ names: [String]?) async throws {
        let names = names ?? entity.properties.map(\.name)
        guard names.count == 1, !ids, entity.entity.hierarchy == nil, try RecordFile(path: output, format: format).isSeparated else {
            return
        }
        if case .relationship(let relationship)? = entity.properties.first(where: { $0.name == names[0] }), relationship.isToMany { return }
        let columns = RowColumns([(names[0].asPath, names[0])], of: entity, showsLabels: false)
        _ = try await opened.reading { context in
            try columns.read(query, isDistinct: false, in: context) { row in
                if row[0].isNull { throw ToolError(.usage, OutputOptions.nullInSingleColumn(names[0])) }
            }
        }
    }
}
