// Commits until it is killed: filestore-child PLACE DURABILITY
import FileStore
import PolyStoreBackend
import PolyStoreConformance

guard CommandLine.arguments.count == 3, let durability = Durability(rawValue: CommandLine.arguments[2]) else {
    throw StoreError(.misuse, "Usage: filestore-child PLACE full|relaxed")
}
try KillHarness.writeUntilKilled(.fileStore(file: CommandLine.arguments[1]), durability)
