import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreSQLite

@Suite struct WritingTests {
    @Test func uniqueValuesSwapInOneChangeSet() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { changes in
            for id in 1...4 {
                try changes.insert("Person", Int64(id), ["name": .text("p"), "age": .integer(Int64(id)), "email": .text("\(id)@")])
            }
        }
        try store.write { changes in
            // A cycle of three, one of them in the compound index as well, and a value of a deleted object.
            try changes.update("Person", 1, ["email": .text("2@"), "age": .integer(2)])
            try changes.update("Person", 2, ["email": .text("3@"), "age": .integer(1)])
            try changes.update("Person", 3, ["email": .text("1@")])
            try changes.delete("Person", 4)
            try changes.insert("Person", 5, ["name": .text("p"), "age": .integer(4), "email": .text("4@")])
        }
        #expect(try [1, 2, 3, 5].map { try store.values("Person", $0)?["email"] } == [.text("2@"), .text("3@"), .text("1@"), .text("4@")])
        #expect(try [1, 2].map { try store.values("Person", $0)?["age"] } == [.integer(2), .integer(1)])
        #expect(try store.backend.verify() == [])
    }

    @Test func duplicateValuesNameBothObjects() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { changes in
            try changes.insert("Person", 1, ["name": .text("a"), "age": .integer(1), "email": .text("1@")])
            try changes.insert("Person", 2, ["name": .text("b"), "age": .integer(1), "email": .text("2@")])
        }
        let cases: [(attribute: String, change: (Changes) throws -> Void)] = [
            ("email", { try $0.insert("Person", 3, ["name": .text("c"), "email": .text("1@")]) }),
            ("email", { try $0.update("Person", 3, ["email": .text("1@")]) }),
            ("name, age", { try $0.update("Person", 3, ["name": .text("a")]) }),
        ]
        for item in cases {
            let transaction = try store.backend.beginWrite()
            let changes = Changes(store.schema)
            let start = Changes(store.schema)
            try start.insert("Person", 3, ["name": .text("z"), "age": .integer(1)])
            try item.change(changes)
            if changes.set.changes.first?.kind == .update { try transaction.apply(start.set) }
            let error = try requireFailure { try transaction.apply(changes.set) }
            #expect(error.code == .constraint)
            #expect(error.entity == "Person")
            #expect(error.attribute == item.attribute)
            #expect(error.rowID == 3)
            #expect(error.message.contains("object 1 has the same value"), "\(error)")
            transaction.rollback()
        }
        #expect(try store.read { try $0.count(FetchRequest(try store.entity("Person"))) } == 2)
    }

    @Test func aFailedChangeSetUndoesOnlyItself() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        try store.write { try $0.insert("Person", 1, ["name": .text("one")]) }
        let bad: [(StoreError.Code, (Changes) throws -> Void)] = [
            (.notFound, { try $0.update("Person", 77, ["name": .text("x")]) }),
            (.notFound, { try $0.update("Person", 77, [:]) }),
            (.notFound, { try $0.delete("Person", 77) }),
            (.constraint, { try $0.insert("Person", 1, ["name": .text("x")]) }),
            (.constraint, { try $0.insert("Person", 78) }),
            (.constraint, { try $0.update("Person", 1, ["name": .null]) }),
        ]
        let transaction = try store.backend.beginWrite()
        let person = try store.entity("Person")
        #expect(try transaction.reserveIDs(person, count: 5) == 1)
        for (index, item) in bad.enumerated() {
            let good = Changes(store.schema)
            try good.insert("Team", Int64(index))
            try transaction.apply(good.set)
            let changes = Changes(store.schema)
            try changes.insert("Team", Int64(index + 100), ["title": .text("gone")])
            try changes.insert("Values", Int64(index + 100), ["double": .real(.nan)])
            try item.1(changes)
            let error = try requireFailure { try transaction.apply(changes.set) }
            #expect(error.code == item.0, "\(error)")
            #expect(error.entity == "Person")
            #expect(error.rowID != nil)
        }
        #expect(try transaction.reserveIDs(person, count: 1) == 6)
        let last = Changes(store.schema)
        try last.update("Person", 1, [:])
        try transaction.apply(last.set)
        #expect(try transaction.commit(.full) == 2)
        #expect(try store.ids(FetchRequest(try store.entity("Team"))) == Array(0..<Int64(bad.count)))
        #expect(try store.ids(FetchRequest(try store.entity("Values"))) == [])
        #expect(try PlainSQL(folder.file("test.sqlite")).rows("SELECT nan FROM polystore_state") == ["NULL"])
        #expect(try store.read { try $0.values(person, 1) } == ["name": .text("one")])
    }

    @Test func idsAreConsecutiveAndKept() throws {
        let folder = try Folder()
        var store = try Store(folder.file("test.sqlite"), try Models.company())
        let person = try store.entity("Person")
        var transaction = try store.backend.beginWrite()
        #expect(try transaction.reserveIDs(person, count: 10) == 1)
        #expect(try transaction.reserveIDs(person, count: 1) == 11)
        #expect(try transaction.reserveIDs(try store.entity("Team"), count: 3) == 1)
        #expect(try requireFailure { _ = try transaction.reserveIDs(person, count: 0) }.code == .misuse)
        #expect(try requireFailure { _ = try transaction.reserveIDs(person, count: .max) }.code == .full)
        _ = try transaction.commit(.relaxed)
        try store.backend.close()
        store = try Store(folder.file("test.sqlite"), store.schema)
        transaction = try store.backend.beginWrite()
        #expect(try transaction.reserveIDs(person, count: 1) == 12)
        transaction.rollback()
    }

    @Test func linksAreFollowedBothWays() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        let skills = try #require(try store.entity("Person").relationship(named: "skills"))
        let people = try #require(try store.entity("Skill").relationship(named: "people"))
        let members = try #require(try store.entity("Team").relationship(named: "members"))
        let team = try #require(try store.entity("Person").relationship(named: "team"))
        guard case .link(let table, let isReversed) = skills.storage else { throw StoreError(.misuse, "no link") }
        func link(_ person: Int64, _ skill: Int64, _ isAddition: Bool = true) -> ChangeSet.LinkChange {
            ChangeSet.LinkChange(
                table: table, source: isReversed ? skill : person, target: isReversed ? person : skill, isAddition: isAddition)
        }
        try store.write { changes in
            for id in 1...5 { try changes.insert("Person", Int64(id), ["name": .text("\(id)"), "team": .integer(Int64(id % 2))]) }
            for pair in [(3, 9), (3, 7), (1, 9), (3, 8), (3, 9)] { changes.set.link(link(Int64(pair.0), Int64(pair.1))) }
        }
        try store.write { changes in
            changes.set.link(link(3, 8, false))
            changes.set.link(link(4, 8, false))
        }
        try store.read { transaction in
            let found = try transaction.related(skills, of: [3, 2, 1])
            #expect((found[1], found[2], found[3]) == ([9], [], [7, 9]))
            #expect(try transaction.related(people, of: [9])[9] == [1, 3])
            let teams = try transaction.related(members, of: [0, 1, 2])
            #expect((teams[0], teams[1], teams[2]) == ([2, 4], [1, 3, 5], []))
            #expect(try transaction.related(team, of: [5])[5] == [1])
        }
    }

    @Test func durabilityChangesFromCommitToCommit() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        for (index, durability) in [Durability.full, .relaxed, .relaxed, .full, .full, .relaxed, .full].enumerated() {
            #expect(try store.write(durability) { try $0.insert("Team", Int64(index)) } == UInt64(index + 1))
        }
        #expect(try store.read { try $0.version } == 7)
    }

    @Test func foreignChangeSetsAndEntitiesAreRefused() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        let other = try Models.single("Else", [.attribute(AttributeDescription(name: "a", type: .int64, isOptional: true))])
        let entity = other.entities[0]
        let transaction = try store.backend.beginWrite()
        let changes = Changes(other)
        try changes.insert("Else", 1)
        #expect(try requireFailure { try transaction.apply(changes.set) }.code == .misuse)
        #expect(try requireFailure { _ = try transaction.record(entity, rowID: 1) }.code == .misuse)
        #expect(try requireFailure { _ = try transaction.scan(FetchRequest(entity)) }.code == .misuse)
        #expect(try requireFailure { _ = try transaction.reserveIDs(entity, count: 1) }.code == .misuse)
        transaction.rollback()
    }

    /// A full disk in the middle of a change set, where SQLite may roll back the whole transaction.
    @Test func fullStoreRejectsTheTransactionAndContinues() throws {
        let folder = try Folder()
        var options = SQLiteOptions()
        options.writerCacheKiB = 64
        let store = try Store(folder.file("test.sqlite"), try Models.company(), options: options)
        try store.write { try $0.insert("Team", 1) }
        let connection = try store.backend.pool.borrowWriter()
        try connection.execute("PRAGMA max_page_count = 60")
        store.backend.pool.giveBackWriter()
        let writer = try store.backend.beginWrite()
        let changes = Changes(store.schema)
        for id in 2...2000 { try changes.insert("Team", Int64(id), ["title": .text(String(repeating: "t", count: 500))]) }
        let error = try requireFailure { try writer.apply(changes.set) }
        #expect(error.code == .full)
        #expect(error.engineCode & 0xff == 13)
        #expect(error.underlying != nil)
        if error.message.contains("whole transaction") {
            #expect(try requireFailure { _ = try writer.commit(.full) }.code == .closed)
            #expect(try requireFailure { _ = try writer.count(FetchRequest(try store.entity("Team"))) }.code == .closed)
            writer.rollback()
        } else {
            #expect(try writer.ids(FetchRequest(try store.entity("Team"))) == [1])
            writer.rollback()
        }
        try store.write(.full) { try $0.insert("Team", 2) }
        #expect(try store.ids(FetchRequest(try store.entity("Team"))) == [1, 2])
        #expect(try store.backend.verify() == [])
    }

    @Test func transactionEndedBySQLiteCannotContinue() throws {
        let folder = try Folder()
        let store = try Store(folder.file("test.sqlite"), try Models.company())
        let writer = try store.backend.beginWrite()
        let connection = try #require(writer as? SQLiteWriteTransaction).connection
        try connection.execute("ROLLBACK")
        let changes = Changes(store.schema)
        try changes.insert("Team", 1)
        #expect(try requireFailure { try writer.apply(changes.set) }.code == .closed)
        #expect(try requireFailure { _ = try writer.reserveIDs(try store.entity("Team"), count: 1) }.code == .closed)
        #expect(try requireFailure { _ = try writer.commit(.full) }.code == .closed)
        writer.rollback()
        #expect(try store.write { try $0.insert("Team", 1) } == 1)
    }
}
