#if canImport(Glibc)
    import EngineTestSupport
    import Foundation
    import Glibc
    import PolyStoreBackend
    import TestSupport
    import Testing

    /// One read of a store's files fails, as on a disk with a passing fault. The contents of the files are sound.
    @Suite struct FailedReadTests {
        private static let ids = Array(1...60 as ClosedRange<Int64>)

        /// Work on an open store.
        enum Work: String, CaseIterable, Sendable { case read, count, write, verify, compact, copy }

        private static func filled(_ engine: Backend, _ folder: Folder) throws {
            let store = try engine.notes(folder.file())
            try store.addNotes(1...60, size: 3000)
            try store.backend.close()
        }

        private static func check(_ error: StoreError, _ engine: Backend, _ what: String) {
            #expect(error.code == .io, "\(what): \(error)")
            #expect(!error.message.contains("backup"), "\(what): \(error)")
            guard engine == .sqlite else { return }
            for part in ["could not read", "Input/output error", "Try again", "disk"] { #expect(error.message.contains(part), "\(error)") }
        }

        @Test(arguments: Backend.persistent) func openingFailsWithIOAndSucceedsLater(_ engine: Backend) throws {
            let folder = try Folder()
            try Self.filled(engine, folder)
            var at = 1
            while true {
                let faults = FileFaults(.reads, below: folder, at: at, error: EIO)
                let error = failure { try engine.notes(folder.file()).backend.close() }
                let hasFailed = faults.failed > 0
                faults.end()
                if let error { Self.check(error, engine, "call \(at)") }
                guard hasFailed else { break }
                at += 1
            }
            #expect(at > 1)
            #expect(try engine.notes(folder.file()).wholeNotes() == Self.ids)
        }

        /// The store is used again without being opened again.
        @Test(arguments: Backend.persistent, Work.allCases) func workFailsWithIOAndSucceedsLater(engine: Backend, work: Work) throws {
            let folder = try Folder()
            try Self.filled(engine, folder)
            var at = 1
            while true {
                // Opened again, so that nothing is cached.
                let store = try engine.notes(folder.file())
                let faults = FileFaults(.reads, below: folder, at: at, error: EIO)
                let error = failure { try Self.run(work, store, folder) }
                let hasFailed = faults.failed > 0
                faults.end()
                if let error { Self.check(error, engine, "\(work), call \(at)") }
                try Self.run(work, store, folder)
                #expect(try store.wholeNotes() == Self.ids, "call \(at)")
                #expect(try store.backend.verify() == [], "call \(at)")
                try store.backend.close()
                guard hasFailed else { break }
                at += at < 12 ? 1 : Ring.size(at / 3, thorough: 1)
            }
        }

        private static func run(_ work: Work, _ store: Store, _ folder: Folder) throws {
            switch work {
            case .read: #expect(try store.wholeNotes() == ids)
            case .count: #expect(try store.read { try $0.count(FetchRequest(try store.entity("Note"))) } == ids.count)
            case .write: try store.write(.full) { for id in [7, 50] as [Int64] { try $0.update("Note", id, ["size": .integer(1)]) } }
            case .verify: #expect(try store.backend.verify() == [])
            case .compact: try store.backend.compact()
            case .copy:
                let copy = folder.file("copy-\(UUID().uuidString)")
                try store.backend.copy(to: copy)
                try FileManager.default.removeItem(atPath: copy)
            }
        }
    }
#endif
