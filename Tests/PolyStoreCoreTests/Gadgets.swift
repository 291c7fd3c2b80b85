import PolyStoreCore
import TestModels
import TestSupport
import Testing

let gadgetSchema = Schema("Gadgets 1", [Gadget.self], configurations: ["Shop": [Gadget.self], "Store": [Gadget.self]])

/// A stack with gadgets in one store.
final class Gadgets {
    let folder: Folder
    let stack: DataStack
    let logger = RecordingLogger()

    init(_ backend: Backend, configurations: [String?] = [nil]) throws {
        folder = try Folder()
        stack = try DataStack(gadgetSchema, logger: logger)
        for (number, name) in configurations.enumerated() {
            try stack.addStore(backend.store(in: folder, "gadgets\(number)"), configuration: name)
        }
    }

    deinit { if !logger.lines.isEmpty { Issue.record("unexpected log: \(logger.lines)") } }
}
