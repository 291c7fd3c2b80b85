import Foundation
import PolyStore
import Testing

/// SQLite can restart its write-ahead log while contexts follow the commits, although they always have a snapshot open.
@MainActor
@Suite struct WriteAheadLogTests {
    /// 200 MB in commits of 512 KiB.
    private static let commits = 400
    private static let byName = From<Worker>().orderBy(.ascending(\.name))

    private func logSize(_ workplace: Workplace) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: workplace.folder.file("test.sqlite-wal"))
        return try #require(attributes[.size] as? Int)
    }

    private nonisolated static func picture(_ number: Int) -> Data { Data(repeating: UInt8(number % 256), count: 512 << 10) }

    @Test func theLogIsBoundedWhileAViewFollows() throws {
        let workplace = try Workplace(.sqlite)
        let jane = try workplace.insert(("Jane", 30))[0]
        let monitor = try workplace.stack.view.monitorList(Self.byName)
        for number in 0..<Self.commits {
            try workplace.stack.performAndWait(durability: .relaxed) { try $0.edit(jane).picture = Self.picture(number) }
            #expect(monitor[0].picture == Self.picture(number))
        }
        #expect(try logSize(workplace) < 32 << 20)
    }

    @Test func theLogIsBoundedWhileSeveralContextsFollow() async throws {
        let workplace = try Workplace(.sqlite)
        let jane = try workplace.insert(("Jane", 30))[0]
        let monitor = try workplace.stack.view.monitorList(Self.byName)
        var updates = workplace.stack.changes(of: Self.byName).makeAsyncIterator()
        _ = try await updates.next()
        for number in 0..<Self.commits {
            try await workplace.stack.perform(durability: .relaxed) { try $0.edit(jane).picture = Self.picture(number) }
            #expect(try await updates.next()?.snapshot.first?[\.picture] == Self.picture(number))
            #expect(monitor[0].picture == Self.picture(number))
        }
        // The background context may have its old snapshot when the next commit begins: the log restarts a few commits later.
        #expect(try logSize(workplace) < 100 << 20)
    }

    @Test func aSnapshotThatIsKeptShowsItsVersion() throws {
        let workplace = try Workplace(.sqlite)
        let jane = try workplace.insert(("Jane", 30))[0]
        let monitor = try workplace.stack.view.monitorList(Self.byName)
        let kept = workplace.stack.newContext()
        #expect(try kept.fetchExisting(jane)?.age == 30)
        for number in 0..<Self.commits / 4 {
            try workplace.stack.performAndWait(durability: .relaxed) {
                let jane = try $0.edit(jane)
                (jane.age, jane.picture) = (number, Self.picture(number))
            }
        }
        #expect(try kept.fetchOne(From<Worker>(), Where(\.age == 30))?.objectID == jane)
        #expect(monitor[0].age == Self.commits / 4 - 1)
        try kept.refresh()
        #expect(try kept.fetchExisting(jane)?.age == Self.commits / 4 - 1)
    }
}
