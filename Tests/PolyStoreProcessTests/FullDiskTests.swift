#if canImport(Glibc)
    import EngineTestSupport
    import Foundation
    import Glibc
    import PolyStoreBackend
    import TestSupport
    import Testing

    /// The disk is full while a store is created or opened. Each call that needs space fails in turn, alone or with all later ones.
    @Suite struct FullDiskTests {
        /// SQLite hides why it could not create a file. The reason is known only while the disk is still full.
        private static func codes(_ engine: Backend, _ lasts: Bool) -> [StoreError.Code] {
            lasts || engine != .sqlite ? [.full] : [.full, .io]
        }

        @Test(arguments: Backend.persistent, [false, true]) func creationOnAFullDiskIsFullAndSucceedsLater(engine: Backend, lasts: Bool)
            throws
        {
            var at = 1
            while true {
                let folder = try Folder()
                let path = folder.file("new/store")
                let faults = FileFaults(.space, below: folder, at: at, error: ENOSPC, lasts: lasts)
                let error = failure { try engine.notes(path) { $0.creatingFolder() }.backend.close() }
                let hasFailed = faults.failed > 0
                faults.end()
                if let error {
                    #expect(Self.codes(engine, lasts).contains(error.code), "call \(at): \(error)")
                    #expect(error.message.contains(folder.file("new")), "\(error)")
                }
                let store = try engine.notes(path) { $0.creatingFolder() }
                #expect(try store.wholeNotes() == [], "call \(at)")
                try store.addNotes(1...3, size: 3000, .full)
                #expect(try store.backend.verify() == [])
                try store.backend.close()
                #expect(try engine.notes(path).wholeNotes() == [1, 2, 3], "call \(at)")
                guard hasFailed else { break }
                at += 1
            }
            #expect(at > 3)
        }

        /// A store that exists keeps its contents.
        @Test(arguments: Backend.persistent, [false, true]) func openingOnAFullDiskIsFullAndSucceedsLater(engine: Backend, lasts: Bool)
            throws
        {
            let folder = try Folder()
            let first = try engine.notes(folder.file())
            try first.addNotes(1...3, size: 3000, .full)
            try first.backend.close()
            var at = 1
            while true {
                let faults = FileFaults(.space, below: folder, at: at, error: ENOSPC, lasts: lasts)
                let error = failure {
                    let store = try engine.notes(folder.file())
                    #expect(try store.wholeNotes() == [1, 2, 3])
                    try store.backend.close()
                }
                let hasFailed = faults.failed > 0
                faults.end()
                if let error { #expect(Self.codes(engine, lasts).contains(error.code), "call \(at): \(error)") }
                let store = try engine.notes(folder.file())
                #expect(try store.wholeNotes() == [1, 2, 3], "call \(at)")
                try store.backend.close()
                guard hasFailed else { break }
                at += 1
            }
        }
    }
#endif
