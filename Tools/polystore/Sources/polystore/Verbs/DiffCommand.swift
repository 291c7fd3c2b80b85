import ArgumentParser
import PolyStoreBackend
import PolyStoreCore

/// The differences of two stores, or those of a store since a point in its history.
struct DiffCommand: AsyncParsableCommand {
    /// A form of the differences.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, jsonl
    }

    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Prints the objects that differ between two stores, or since a point in the history.",
        discussion: """
            The objects of two stores correspond if they have the same unique id, the attributes of the entity's first unique index, or else the same row id. The stores can be of \
            different engines. With --since in place of a second store, the objects that have changed since a token or date are printed, with the previous values that the history \
            has recorded.

            A + begins an added object, a - a removed one, a ~ one with other values. The exit code is 1 if there is a difference, and 0 otherwise.

            EXAMPLES
              polystore diff before.db atlas.db --entity City
              polystore diff atlas.db postgresql://jane@db.example.com/atlas
              polystore diff atlas.db --since 2026-01-31
            """)

    @OptionGroup var source: StoreArgument
    @Argument(help: "The store to compare with: the newer one.", completion: .file())
    var other: String?
    @Option(help: ArgumentHelp("A point in the history of the store: a token that history printed, or a date.", valueName: "token|date"))
    var since: String?
    @Option(help: ArgumentHelp("Compare the objects of one entity only.", valueName: "entity"))
    var entity: String?
    @Flag(help: "Identify objects by their row ids, as in a copy of a store.")
    var byRowID = false
    @Option(help: "The form of the output.")
    var format = Format.text

    func validate() throws {
        guard (other == nil) != (since == nil) else {
            throw ValidationError("Compare with a second store, or with --since a point in the history.")
        }
    }

    func run() async throws {
        let old = try source.open()
        if let entity { _ = try old.entity(entity) }
        let output = DifferenceOutput(isText: format == .text)
        if let since {
            try await HistoryDifference(old, entity, output).write(since: HistoryPoint(since, option: "--since"))
        } else if let other {
            let new = try OpenStore(StoreLocation(existing: other), verbose: source.verbose)
            try await compare(old, new, output)
        }
        let isDifferent = output.total > 0 || output.hasSchemaDifferences
        if format == .text { try StandardOutput.shared.write(isDifferent ? output.summary + "\n" : "No difference was found.\n") }
        if isDifferent { throw ToolError.nothingFound }
    }

    private func compare(_ old: OpenStore, _ new: OpenStore, _ output: DifferenceOutput) async throws {
        if entity == nil { for sentence in old.schema.differences(to: new.schema) { try output.write(schema: sentence) } }
        let root = try entity.map { try old.entity($0).name }
        let pairs = old.schema.entities.compactMap { entity in
            root == nil || entity.name == root ? new.schema.entities.first { $0.name == entity.name }.map { (entity, $0) } : nil
        }
        let (name, byRowID) = (entity, byRowID)
        try await old.stack.read { before in
            // The inner read runs on this thread too.
            nonisolated(unsafe) let before = before
            try new.stack.readAndWait { after in
                for (entity, other) in pairs {
                    let sides = (
                        old: ComparedEntity(entity, other, in: old.schema, byRowID: byRowID),
                        new: ComparedEntity(other, entity, in: new.schema, byRowID: byRowID)
                    )
                    let query = EntityQuery(name ?? entity.name)
                    try Self.walk(query, sides.old, before, readsValues: true) { objects in
                        let objects = try objects.map { try sides.old.object($0) }
                        let found = try sides.new.candidates(objects.map(\.identity), new.stack, after, readsValues: true)
                        var matches: [ComparedObject.Identity: ComparedObject] = [:]
                        for object in found { matches[try sides.new.identity(object)] = try sides.new.object(object) }
                        for object in objects {
                            let difference = matches[object.identity].map { object.difference(to: $0) } ?? object.whole(.removed)
                            if let difference { try output.write(difference) }
                        }
                    }
                    try Self.walk(query, sides.new, after, readsValues: false) { objects in
                        let found = try sides.old.candidates(
                            objects.map { try sides.new.identity($0) }, old.stack, before, readsValues: false)
                        let known = Set(try found.map { try sides.old.identity($0) })
                        for object in objects where !known.contains(try sides.new.identity(object)) {
                            try output.write(sides.new.object(object).whole(.added))
                        }
                    }
                }
            }
        }
    }

    /// Calls a closure with the objects of an entity in batches.
    private static func walk(
        _ query: EntityQuery, _ entity: ComparedEntity, _ context: Context, readsValues: Bool, _ body: ([DynamicObject]) throws -> Void
    ) throws {
        let ids = try context.fetchObjectIDs(query)
        for start in stride(from: 0, to: ids.count, by: ComparedEntity.batch) {
            try Task.checkCancellation()
            let part = Array(ids[start..<min(start + ComparedEntity.batch, ids.count)])
            let query = EntityQuery(query.entity).where("objectID IN %@", part).orderBy("objectID")
            try body(context.fetchAll(readsValues ? entity.prefetching(query) : query))
        }
    }
}
