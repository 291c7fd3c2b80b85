import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Transactions within transactions.
@Suite struct NestedTransactionTests {
    @Test(arguments: Backend.forObjectLayer)
    func aChildSeesItsParentAndHandsOver(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(3)
        let draft = company.stack.beginUnsafe()
        try draft.edit(ids[0]).age = 100
        try draft.delete(ids[1])
        let new = try draft.create(Into<Person>())
        (new.email, new.age) = ("new", 50)
        let child = draft.beginUnsafe()
        #expect(try child.fetchAll(From<Person>().orderBy(.ascending(\.age))).map(\.age) == [20, 50, 100])
        #expect(try child.fetchCount(From<Person>().where(\.age > 30)) == 2)
        #expect(try child.queryValue(From<Person>(), Select<Int>(.maximum(\.age)), Tweak { $0.includesPendingChanges = true }) == 100)
        try child.edit(new.objectID).age = 51
        try child.edit(ids[2]).friends = [try child.edit(ids[0])]
        try child.create(Into<Person>()).email = "grandchild"
        #expect(new.age == 50)
        #expect(try child.commit())
        #expect(new.age == 51)
        #expect(try draft.edit(ids[2]).friends == [try draft.edit(ids[0])])
        #expect(try company.count() == 3)
        try draft.commit()
        #expect(
            try company.stack.readAndWait { try $0.fetchAll(From<Person>()).map(\.email) } == [
                "p0@example.com", "p2@example.com", "new", "grandchild",
            ])
        #expect(try company.verified().isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func aReleasedChildChangesNothing(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let draft = company.stack.beginUnsafe()
        try draft.edit(ids[0]).age = 5
        do {
            let child = draft.beginUnsafe()
            try child.edit(ids[0]).age = 6
            try child.delete(ids[1])
        }
        let child = draft.beginUnsafe()
        try child.edit(ids[0]).age = 7
        child.rollback()
        #expect(try child.edit(ids[0]).age == 5)
        try draft.commit()
        #expect(try company.ages() == [5, 10])
    }

    @Test(arguments: Backend.forObjectLayer)
    func insideAQueuedTransaction(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        try company.stack.performAndWait { transaction throws in
            let attempt = transaction.beginUnsafe()
            try attempt.edit(ids[0]).age = 1
            let other = transaction.beginUnsafe()
            try other.edit(ids[1]).age = 2
            try attempt.create(Into<Person>()).email = "child"
            try attempt.commit()
        }
        #expect(try company.ages() == [1, 10, 0])
    }

    @Test func aRefusedCommitDoesNotChangeTheParent() throws {
        let company = try Company(.memory)
        let ids = try company.people(2)
        let draft = company.stack.beginUnsafe()
        let child = draft.beginUnsafe()
        try child.edit(ids[0]).age = 1
        try child.edit(ids[1]).age = 2
        try draft.edit(ids[1]).age = 3
        expectError(.conflict) { try child.commit() }
        #expect(try draft.edit(ids[0]).age == 0)
        #expect(try draft.edit(ids[1]).age == 3)
        try child.commit(mergePolicy: .mineWins)
        #expect(try draft.edit(ids[0]).age == 1)
        #expect(try draft.edit(ids[1]).age == 2)
    }

    @Test func severalLevels() throws {
        let company = try Company(.memory)
        let id = try company.people(1)[0]
        let drafts = (0..<5).reduce(into: [company.stack.beginUnsafe()]) { drafts, _ in
            drafts.append(drafts[drafts.count - 1].beginUnsafe())
        }
        for (number, draft) in drafts.enumerated().reversed() {
            let person = try draft.edit(id)
            person.nickname = (person.nickname ?? "") + "\(number)"
            try draft.commit()
        }
        #expect(try company.nicknames() == ["543210"])
    }

    @Test func doesNotOutliveItsParent() throws {
        let company = try Company(.memory)
        let id = try company.people(1)[0]
        final class Box: @unchecked Sendable {  // used by one thread
            var child: UnsafeTransaction?
        }
        let box = Box()
        try company.stack.performAndWait { transaction throws in
            let child = transaction.beginUnsafe()
            try child.edit(id).age = 1
            box.child = child
        }
        expectError(.closed) { try box.child?.commit() }
        #expect(try company.ages() == [0])
    }

    /// A list whose new order is pending in the parent; the rows of the store have the old one.
    @Test(arguments: Backend.forObjectLayer)
    func aChildSeesThePendingOrder(_ backend: Backend) throws {
        let music = try OrderedTests.Music(backend, lists: 1, tracks: 5)
        try music.stack.performAndWait { transaction throws in
            let tracks = try transaction.fetchAll(From<Track>().orderBy(.ascending(\.title)))
            let list = try transaction.fetchOne(From<Playlist>())
            list?.tracks = Array(tracks[0..<4])
            list?.extras = Array(tracks[0..<4])
        }
        let draft = music.stack.beginUnsafe()
        let list = try #require(try draft.fetchOne(From<Playlist>()))
        list.tracks.reverse()
        list.extras.reverse()
        let child = draft.beginUnsafe()
        let mine = try child.edit(list.objectID)
        #expect(mine.tracks.map(\.title) == ["t3", "t2", "t1", "t0"])
        let fifth = try #require(try child.fetchOne(From<Track>(), Where(\.title == "t4")))
        mine.tracks.insert(fifth, at: 1)
        mine.extras.insert(fifth, at: 1)
        try child.commit()
        let expected = ["t3", "t4", "t2", "t1", "t0"]
        #expect(list.tracks.map(\.title) == expected && list.extras.map(\.title) == expected)
        try draft.commit()
        let stored = try music.stack.readAndWait { context throws in
            try context.fetchAll(From<Playlist>()).map { [$0.tracks.map(\.title), $0.extras.map(\.title)] }
        }
        #expect(stored == [[expected, expected]])
    }

    /// The parent's pending link has no inverse that the child's delete rules could find in the store.
    @Test(arguments: Backend.forObjectLayer)
    func aChildDeletesTheTargetOfAPendingLink(_ backend: Backend) throws {
        let company = try Company(backend)
        let (department, tags) = try company.stack.performAndWait { transaction throws in
            let department = try transaction.create(Into<Department>())
            let tags = try (0..<3).map { _ in
                let project = try transaction.create(Into<Project>())
                project.owner = department
                return project
            }
            department.tags = [tags[2]]
            return (department.objectID, tags.map(\.objectID))
        }
        let draft = company.stack.beginUnsafe()
        try draft.edit(department).tags = Set(try draft.fetchExisting(tags))
        let child = draft.beginUnsafe()
        try child.delete(tags[0])
        #expect(try child.edit(department).tags.count == 2)
        let grandchild = child.beginUnsafe()
        try grandchild.delete(tags[2])
        #expect(try grandchild.edit(department).tags.map(\.objectID) == [tags[1]])
        try grandchild.commit()
        try child.commit()
        #expect(try draft.edit(department).tags.map(\.objectID) == [tags[1]])
        try draft.commit()
        #expect(try company.stack.readAndWait { try $0.fetchExisting(department)?.tags.map(\.objectID) } == [tags[1]])
        #expect(try company.verified().isEmpty)
    }

    /// A transaction that has ended reads no store, and neither do its descendants that outlive it.
    @Test(arguments: Backend.forObjectLayer)
    func descendantsOfAnEndedTransactionCannotRead(_ backend: Backend) throws {
        let company = try Company(backend)
        let id = try company.people(1)[0]
        nonisolated(unsafe) var descendants: [UnsafeTransaction] = []
        try company.stack.performAndWait { transaction throws in
            let child = transaction.beginUnsafe()
            let grandchild = child.beginUnsafe()
            #expect(try grandchild.edit(id).age == 0)
            descendants = [child, grandchild, child.beginUnsafe()]
        }
        for descendant in descendants {
            expectError(.closed) { try descendant.fetchCount(From<Person>()) }
            expectError(.closed) { try descendant.create(Into<Person>()) }
        }
        #expect(try company.count() == 1)
    }
}
