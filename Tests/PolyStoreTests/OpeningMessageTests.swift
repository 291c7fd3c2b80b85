import Foundation
import PolyStore
import TestSupport
import Testing

@Model
private final class Note {
    var text: String = ""
}

@Model(entity: "Note")
private final class LongerNote {
    var text: String = ""
    var length: Int = 0
}

/// Errors of opening a store name the method that opens it.
@Suite struct OpeningMessageTests {
    @Test(arguments: Backend.persistent)
    func missingFolderNamesTheWayOut(_ backend: Backend) throws {
        let folder = try Folder()
        let place = Folder(path: folder.path + "/missing/below")
        let stack = try DataStack(Schema("Notes", Note.self))
        let error = try requireFailure { try stack.addStore(backend.store(in: place)) }
        #expect(error.code == .io)
        #expect(
            error.message.contains("its folder does not exist. Create the folder, or open the store with .creatingFolder()."), "\(error)")
        #expect(error.location?.contains("missing/below") ?? false)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/missing"))
        // A store that is opened for reading is not created, so the method would not help.
        let reading = try requireFailure { try stack.addStore(backend.store(in: place).readOnly()) }
        #expect(!reading.message.contains("creatingFolder"), "\(reading)")
        try stack.addStore(backend.store(in: place).creatingFolder())
    }

    @Test(arguments: Backend.persistent)
    func anotherModelNamesTheWayOut(_ backend: Backend) throws {
        let folder = try Folder()
        do { try DataStack(Schema("Notes 1", Note.self)).addStore(backend.store(in: folder)) }
        let longer = Schema("Notes 2", LongerNote.self)
        let error = try requireFailure { try DataStack(longer).addStore(backend.store(in: folder)) }
        #expect(error.code == .migrationRequired)
        #expect(error.message.contains("open it with .resettingOnModelMismatch() if its data may be lost."), "\(error)")
        try DataStack(longer).addStore(backend.store(in: folder).resettingOnModelMismatch())
    }
}
