import ArgumentParser

/// The tool.
struct PolyStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "polystore", abstract: "Reads, changes, converts and verifies stores.",
        discussion: """
            A STORE is a URL or a path: sqlite:company.sqlite, lmdb:company.lmdb, leveldb:company.leveldb, \
            postgresql://jane@db.example.com/company, or a path whose engine is found from the file. Stores are opened read-only, except by the \
            commands that change them. The program that owns a store can go on using it meanwhile; LevelDB permits one process only.

            CONDITIONS are format strings: "population > 5000000 AND country.continent.code == 'AS'". See `polystore query --help`.

            \(ExitStatus.help)
            """,
        subcommands: [
            InfoCommand.self, SchemaCommand.self, GetCommand.self, QueryCommand.self, SearchCommand.self, CountCommand.self,
            GroupCommand.self,
            ExplainCommand.self, ImportCommand.self, ExportCommand.self, HistoryCommand.self, DiffCommand.self, ConvertCommand.self,
            MigrateCommand.self, VerifyCommand.self, ReindexCommand.self, CompactCommand.self, BackupCommand.self, ModelCommand.self,
            BrowseCommand.self,
        ])
}
