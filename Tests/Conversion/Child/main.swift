// Converts a store until it kills itself, some time after a number of reports of the progress.
//
//     conversion-child SOURCE TARGET REPORTS MICROSECONDS [start-over]

import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite

let arguments = CommandLine.arguments
guard arguments.count >= 5, let reports = Int(arguments[3]), let delay = UInt32(arguments[4]) else {
    FileHandle.standardError.write(Data("usage: conversion-child SOURCE TARGET REPORTS MICROSECONDS [start-over]\n".utf8))
    exit(1)
}
print("ready")
fflush(nil)
_ = readLine()
do {
    var conversion = try StoreConversion(
        from: arguments[1], to: arguments[2], engines: StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL]))
    conversion.startsOver = arguments.count > 5
    conversion.logger = SilentLogger()
    var count = 0
    let report = try conversion.runAndWait { _ in
        count += 1
        guard count == reports else { return }
        Thread.detachNewThread {
            usleep(delay)
            kill(getpid(), SIGKILL)
        }
    }
    print("converted \(report.target) \(report.isResumed)")
} catch let error as StoreError {
    print("refused: \(error.code) \(error.message)")
}
