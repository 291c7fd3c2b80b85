import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestSupport
import Testing

/// Digests of stores.
@Suite struct StoreDigestTests {
    @Test func everyChangeChangesTheDigest() throws {
        let folder = try Folder()
        let backend = try SampleStore.open(Place.memory.filled(in: folder, people: 10))
        let schema = try ResolvedSchema(SampleSchema.description)
        var seen: Set<String> = ["\(try StoreDigest(of: backend))"]
        func change(_ what: String, _ body: (ChangeSet) throws -> Void) throws {
            let changes = ChangeSet(schema)
            try body(changes)
            let writer = try backend.beginWrite()
            try writer.apply(changes)
            _ = try writer.commit(.relaxed)
            #expect(seen.insert("\(try StoreDigest(of: backend))").inserted, "\(what)")
        }
        let everything = try #require(schema.entity(named: "Everything"))
        for field in everything.fields where field.name != "code" {
            let values: [Value] =
                switch field.type.physical {
                case .integer: [.integer(1)]
                case .real: [.real(1.5)]
                // Texts that are empty, absent and padded with zeros differ.
                case .text: [.text("x"), .text("x\0"), .text("")]
                case .blob: [.blob([9]), .blob([9, 0]), .blob([])]
                }
            for value in field.type == .decimal || field.type == .uuid || field.type == .json ? [] : values {
                try change("\(field.name) \(value)") { changes in
                    var mask = FieldMask()
                    mask.insert(field.index)
                    try changes.update(everything, rowID: 1, mask: mask) { try $0.set(field, value) }
                }
            }
        }
        let empty = try #require(schema.entity(named: "Empty"))
        try change("insert") { try $0.insert(empty, rowID: 1) { $0.setText(0, "a") } }
        try change("another id") { changes in
            changes.delete(empty, rowID: 1)
            try changes.insert(empty, rowID: 2) { $0.setText(0, "a") }
        }
        let removal = ChangeSet(schema)
        for link in schema.links { removal.link(.init(table: link.index, source: 3, target: 1, isAddition: false)) }
        let remover = try backend.beginWrite()
        try remover.apply(removal)
        _ = try remover.commit(.relaxed)
        seen.insert("\(try StoreDigest(of: backend))")
        for link in schema.links {
            try change("link \(link.name)") { $0.link(.init(table: link.index, source: 3, target: 1, isAddition: true)) }
            if link.ordersTargets {
                try change("position") { $0.link(.init(table: link.index, source: 3, target: 1, isAddition: true, targetPosition: 77)) }
            }
            if link.ordersSources {
                try change("position") { $0.link(.init(table: link.index, source: 3, target: 1, isAddition: true, sourcePosition: 78)) }
            }
        }
        try change("value") { try $0.setValue([1], named: "a") }
        try change("value") { try $0.setValue([1, 0], named: "a") }
        try change("log") { $0.appendLogEntry([1]) }
    }

    @Test func digestsOfStoresThatAreOpenForOtherThingsAreTheSame() throws {
        let folder = try Folder()
        let store = try Place.sqlite.filled(in: folder, people: 10)
        let open = try SampleStore.open(store)
        let writer = try open.beginWrite()
        var reports = 0
        let digest = try StoreDigest(of: store, logger: RecordingLogger()) { _ in reports += 1 }
        #expect(try digest == StoreDigest(of: open))
        #expect(digest.objectCount == digest.entities.reduce(0) { $0 + $1.count })
        #expect(digest.linkCount > 0)
        #expect(reports > 5)
        writer.rollback()
        try open.close()
    }
}
