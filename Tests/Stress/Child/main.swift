// Runs many threads and tasks concurrently and checks their results.
//
//     stress-child threads ENGINE FOLDER SECONDS [SEED]   64 writers and 64 readers; sums hold in every snapshot, no acknowledged change is lost
//     stress-child mixed ENGINE FOLDER SECONDS [SEED]     random transactions of every kind over two stores; the result equals the acknowledged changes
//     stress-child release ENGINE FOLDER SECONDS [SEED]   contexts of every kind that are released, like their objects, on other threads
//     stress-child observe ENGINE FOLDER SECONDS [SEED]   many tasks observe lists and values; each state is one snapshot, each change fits
//
// Exits with 1 after a failure, and with 3 after 30 seconds without progress. The seed is printed; it does not determine the scheduling of the threads.

import Foundation
import PolyStoreBackend
import PolyStoreCore

let arguments = CommandLine.arguments
guard arguments.count >= 5, let seconds = Double(arguments[4]) else {
    fail("usage: stress-child threads|mixed|release|observe sqlite|lmdb|leveldb|memory FOLDER SECONDS [SEED]")
}
let seed = arguments.count > 5 ? UInt64(arguments[5]) ?? 1 : UInt64.random(in: 1...1_000_000)
let engine = Engine(name: arguments[2], folder: arguments[3], mapSize: ["mixed", "observe"].contains(arguments[1]) ? 256 << 20 : 1 << 20)
let crew = Crew(watchdog: Watchdog(), end: ContinuousClock.now + .seconds(seconds))

do {
    switch arguments[1] {
    case "threads": try await ThreadStress(engine, crew, seed).run(writers: 64, readers: 64)
    case "release": try await ReleaseStress(engine, crew, seed).run(owners: 4)
    case "observe": try await ObserveStress(engine, crew, seed).run(writers: 4, observers: 16)
    case "mixed": try await MixedStress(engine, crew, seed).run()
    default: fail("there is no \(arguments[1])")
    }
} catch {
    fail("\(arguments[1]) on \(engine.name), seed \(seed): \(error)")
}
crew.watchdog.isOver()
