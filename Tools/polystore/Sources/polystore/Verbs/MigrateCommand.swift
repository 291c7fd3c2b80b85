import ArgumentParser
import Foundation
import PolyStoreCore

import struct PolyStoreBackend.SchemaDescription
import struct PolyStoreBackend.StandardErrorLogger
import struct PolyStoreBackend.StoreConfiguration
import struct PolyStoreBackend.StoreError

/// A store migrated to another schema.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Migrates a store to another schema.",
        discussion: """
            The schema is JSON as schema --format json prints it: save that, change it, give it another name, and pass the file. Added and removed entities and properties, other \
            types that hold every value, indexes, and renamed parts are migrated; --rename Entity.new=old keeps the values of a renamed property, --rename New=Old the objects of a \
            renamed entity. A migration that would lose values or objects is refused and names them, unless --allow-loss permits it. A program with classes opens the store when its classes have the new schema.

            --rehearse performs the migration without changing the store, and prints what it would change, lose and refuse; the exit code is 1 if it would be refused. A migration that \
            fails or is interrupted leaves the store as it was.

            EXAMPLES
              polystore schema atlas.db --format json > atlas-3.json
              polystore migrate atlas.db --to atlas-3.json --rename City.inhabitants=population --rehearse
              polystore migrate atlas.db --to atlas-3.json --rename City.inhabitants=population --copy before.db
            """)

    @OptionGroup var source: StoreArgument
    @Option(help: ArgumentHelp("The file with the schema; - for the input.", valueName: "file"), completion: .file())
    var to: String
    @Option(
        name: .customLong("rename"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The earlier name of an entity or property; can be repeated.", valueName: "new=old"))
    var renames: [String] = []
    @Flag(help: "Print what the migration would do, and change nothing.")
    var rehearse = false
    @Option(help: ArgumentHelp("Copy the store to this path before it is migrated.", valueName: "path"), completion: .file())
    var copy: String?
    @Flag(help: "Migrate back to an earlier schema of the store, which removes what the later one has added.")
    var allowDowngrade = false
    @Flag(help: "Migrate also if values or objects are lost.")
    var allowLoss = false
    @Flag(help: "Drop targets of relationships that lead to one object in the new schema.")
    var dropLinks = false

    func validate() throws {
        if allowDowngrade, !renames.isEmpty {
            throw ValidationError(
                "--rename and --allow-downgrade exclude each other: a migration back to an earlier schema undoes the renames of the store's schema."
            )
        }
    }

    func run() async throws {
        let schema = try schema()
        let opened = try source.open()
        let configuration = opened.store.configurationName
        try await opened.stack.close()
        let (store, verbose) = (opened.location.configuration, source.verbose)
        let pairs = try pairs()
        let next = try Schema(json: schema, renaming: pairs.oldNames(in: opened.schema), configuration: configuration)
        try pairs.check(from: opened.schema, to: schema)
        let stack = try DataStack(
            versions(opened.schema, next, configuration),
            logger: StandardErrorLogger(minimum: verbose ? .info : .error))
        do { try await migrate(stack, store, configuration) } catch let error as StoreError
            where error.code == .incompatibleSchema && !allowDowngrade && error.message.contains("allowsDowngrade")
        {
            throw ToolError(
                .failure,
                "\(opened.location.name) had the schema \"\(stack.schema.name)\" before \"\(opened.schema.name)\", or another branch of it. Migrating back would remove what "
                    + "\"\(opened.schema.name)\" has added. Pass --allow-downgrade to do it, with --rehearse to see what is lost.")
        }
    }

    private func migrate(_ stack: DataStack, _ store: StoreConfiguration, _ configuration: String?) async throws {
        if rehearse || !allowLoss {
            let report = try await stack.rehearseMigration(of: store, configuration: configuration, migrating: policy)
            let losses = losses(report)
            if rehearse {
                try StandardOutput.shared.write("\(DisplayText.lines("\(report)"))\n")
                if !report.isPossible { throw ToolError(.nothingFound, "The migration would be refused.") }
                if !losses.isEmpty { throw ToolError(.nothingFound, "The migration would be refused without --allow-loss.") }
                return
            }
            guard losses.isEmpty else {
                throw ToolError(
                    .failure,
                    "The migration would lose data, and the store was left as it is. \(losses.joined(separator: " ")) Name what was renamed with --rename, or pass --allow-loss."
                )
            }
        }
        let run = stack.startAddingStore(store, configuration: configuration, migrating: policy)
        _ = try await run.following()
        try StandardOutput.shared.write("\(run.report.map { DisplayText.lines("\($0)") } ?? "Migrated.")\n")
        try await stack.close()
    }

    /// Returns what a migration loses without permission, a sentence for each finding.
    private func losses(_ report: MigrationReport) -> [String] {
        guard !allowLoss else { return [] }
        return report.findings.filter { $0.kind == .lost && !$0.isPermitted }.map { finding in
            finding.message + (finding.count == 0 ? "" : " (\(finding.count.grouped) \(finding.count == 1 ? "object" : "objects"))")
        }
    }

    /// Returns the versions that the command knows: the given one follows that of the store, so that its declarations replace those of the store.
    private func versions(_ stored: SchemaDescription, _ given: Schema, _ configuration: String?) throws -> SchemaHistory {
        if allowDowngrade || stored.name == given.name { return SchemaHistory(given) }
        return try SchemaHistory(Schema(stored, configuration: configuration), given)
    }

    private var policy: MigrationPolicy {
        var policy = MigrationPolicy.lightweight(allowsDowngrade: allowDowngrade).replacingDeclarations()
        if dropLinks { policy = policy.allowingLostLinks() }
        return copy.map { policy.keepingCopy(at: $0) } ?? policy
    }

    private func schema() throws -> Data {
        if to == "-" { return try InterruptibleInput.readAll() }
        guard let data = FileManager.default.contents(atPath: to) else { throw ToolError(.failure, "The schema \"\(to)\" cannot be read.") }
        return data
    }

    private func pairs() throws -> RenamePairs {
        var found = RenamePairs()
        for rename in renames { try found.add(rename) }
        return found
    }
}
