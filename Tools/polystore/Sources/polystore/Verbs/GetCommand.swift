import ArgumentParser
import BrowserData
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

/// One object with all its values and relationships.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints one object: its values, and the objects that it is related to.",
        discussion: """
            EXAMPLES
              polystore get atlas.db Country 75
              polystore get atlas.db Country FR
              polystore get atlas.db polystore://5945b666b5c00c7cb0f48ceab3310595/Country/75
            """)

    @OptionGroup var source: StoreArgument
    @Argument(help: "The name of the entity, or the URI of the object.", completion: .custom(Completions.entities))
    var entity: String
    @Argument(help: "The row id of the object, or the value of a unique text attribute.")
    var id: String?
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The greatest number of objects to list of each to-many relationship.", valueName: "count"))
    var related = 5
    @OptionGroup var output: OutputOptions

    func validate() throws { if related < 0 { throw ValidationError("--related is a number of objects, not \(related).") } }

    func run() async throws {
        let opened = try source.open()
        let query = try id == nil ? nil : lookup(opened)
        let (entity, id, related, output) = (entity, id, related, output)
        try await opened.reading { context in
            guard let object = try query.map({ try context.fetchOne($0) }) ?? Self.object(entity, id, opened, context) else {
                throw ToolError(.nothingFound, "\(opened.location.name) has no \(id.map { "\(entity) \($0)" } ?? "object \(entity)").")
            }
            try ObjectDescription(object, in: opened.schema, related: related).write(output)
        }
    }

    private static func object(_ entity: String, _ id: String?, _ opened: OpenStore, _ context: Context) throws -> DynamicObject? {
        if let id, let rowID = Int64(id) { return try context.fetchExisting(opened.stack.objectID(entity, rowID: rowID)) }
        guard let id = opened.stack.objectID(entity) else {
            guard !entity.hasPrefix("polystore:") else { return nil }
            _ = try opened.entity(entity)
            throw ToolError(.usage, "Which \(entity)? Write its row id after the name of the entity, or use query to find it.")
        }
        return try context.fetchExisting(id)
    }

    /// Returns the fetch of an object by the value of a unique attribute; nil for a row id.
    private func lookup(_ opened: OpenStore) throws -> EntityQuery? {
        let description = try opened.entity(entity)
        guard let id, Int64(id) == nil else { return nil }
        let unique = EntityProperties(description, name: entity, in: opened.schema).properties.compactMap { property -> String? in
            guard case .attribute(let attribute) = property, attribute.isUnique, attribute.type == .string else { return nil }
            return attribute.name
        }
        guard !unique.isEmpty else {
            throw ToolError(.usage, "\"\(id)\" is not a row id, and \(entity) has no unique text attribute: use query to find the object.")
        }
        let condition = unique.map { "\($0.asPath) == %@" }.joined(separator: " OR ")
        return EntityQuery(entity).where(condition, arguments: unique.map { _ in id }).limit(1)
    }
}
