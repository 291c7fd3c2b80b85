// Migrates a store until it is killed, or checks the store of a killed migration. Does not use the macros, which keeps release builds short.
//
//     migration-child make ENGINE STORE COUNT       creates a store of an earlier version
//     migration-child migrate ENGINE STORE          migrates it to the current version
//     migration-child check ENGINE STORE COUNT      prints whether the store has the old version or the new one, and checks the objects of the new one
//     migration-child check-old ENGINE STORE COUNT  the same, and opens a store of the old version for writing
//     migration-child hold ENGINE STORE             opens a store and reads commands, while another process migrates it; see HeldStore

import Foundation
import PolyStoreCore
import SmallStores

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("migration-child: \(message)\n".utf8))
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count >= 4 else { fail("usage: migration-child make|migrate|check|check-old|hold ENGINE STORE [COUNT]") }
// Small limits: the map grows and memtables are flushed before the child is killed.
guard let configuration = SmallStores.configuration(arguments[2], arguments[3]) else { fail("unknown engine \(arguments[2])") }
let count = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0
switch arguments[1] {
case "make": try Migrating.make(configuration, count)
case "migrate":
    do { try await Migrating.migrate(configuration) } catch { fail("\(error)") }
case "check", "check-old": print(try Migrating.check(configuration, count, opensOld: arguments[1] == "check-old"))
case "hold": try HeldStore(configuration).run()
default: fail("unknown command \(arguments[1])")
}
