import CFileFaults
import EngineTestSupport
import Foundation

/// Work that stops before one of its system calls.
enum Holding {
    /// Copies or compacts a store. Not in `main.swift`, because the call can be made on another thread than the main one.
    static func run(_ store: Store, _ path: String, _ work: String, at: UInt64) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let plan = polystore_file_faults_begin(folder, Int32(POLYSTORE_FAULT_SPACE), at, 0, 0)
        polystore_file_faults_observe(
            plan,
            { _ in
                say("held")
                _ = readLine()
            }, nil)
        defer { polystore_file_faults_end(plan) }
        if work == "copy" { try store.backend.copy(to: path + ".copy") } else { try store.backend.compact() }
    }
}
