// Migrates the store of a pair of versions, until it is killed. Waits for a line of input before it begins.
//
//     matrix-child ENGINE STORE NUMBER

import Foundation
import MigrationMatrix
import PolyStoreBackend
import PolyStoreCore
import SmallStores

let arguments = CommandLine.arguments
guard arguments.count == 4, let store = SmallStores.configuration(arguments[1], arguments[2]), let number = UInt64(arguments[3]) else {
    FileHandle.standardError.write(Data("usage: matrix-child ENGINE STORE NUMBER\n".utf8))
    exit(1)
}
let pair = MatrixPair(number)
let stack = try DataStack(SQLiteChannel.schema("New", pair.entities(pair.new)), logger: SilentLogger())
print("ready")
fflush(nil)
_ = readLine()
do {
    try stack.upgradeStoreIfNeededAndWait(store, migrating: pair.policy)
    print("migrated")
} catch let error as StoreError {
    print("refused: \(error.code)")
}
