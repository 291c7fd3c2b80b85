import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Objects that two transactions change concurrently: unqueued transactions and the store, and child transactions and their parents.
@Suite struct MergePolicyTests {
    /// The place where the other transaction writes.
    enum Place: String, CaseIterable, CustomTestStringConvertible {
        case store, parent
        var testDescription: String { rawValue }
    }

    /// A company, an unqueued transaction or a child, and the people that both sides change.
    private struct Scene {
        let company: Company
        let parent: UnsafeTransaction?
        let mine: UnsafeTransaction
        let ids: [ObjectID<Person>]

        init(_ backend: Backend, _ place: Place) throws {
            company = try Company(backend)
            ids = try company.people(3)
            parent = place == .parent ? company.stack.beginUnsafe() : nil
            mine = parent?.beginUnsafe() ?? company.stack.beginUnsafe()
        }

        /// Runs the changes of the other transaction.
        func elsewhere(_ body: @Sendable (Transaction) throws -> Void) throws {
            if let parent { try body(parent) } else { try company.stack.performAndWait(body) }
        }

        /// Returns the final people.
        func people() throws -> [String] {
            try parent?.commit()
            return try company.stack.readAndWait {
                try $0.fetchAll(From<Person>()).map { "\($0.email.prefix(2)) \($0.age) \($0.nickname ?? "-")" }
            }
        }
    }

    static let cases: [(Backend, Place)] = Backend.forObjectLayer.flatMap { backend in Place.allCases.map { (backend, $0) } }
    static let outcomes: [(MergePolicy, String)] = [
        (.storeWins, "p0 70 theirs"), (.mineWins, "p0 60 -"), (.attributesStoreWins, "p0 70 theirs"), (.attributesMineWins, "p0 60 theirs"),
    ]

    @Test(arguments: cases)
    func bothChangedTheSameAttribute(_ backend: Backend, _ place: Place) throws {
        for (policy, expected) in Self.outcomes {
            let scene = try Scene(backend, place)
            let ids = scene.ids
            try scene.mine.edit(ids[0]).age = 60
            try scene.elsewhere { transaction in
                let person = try transaction.edit(ids[0])
                (person.age, person.nickname) = (70, "theirs")
            }
            let error = expectError(.conflict) { try scene.mine.commit() }
            let keys = ["age", "nickname"]
            #expect(error?.conflicts == [ObjectConflict(entity: "Person", rowID: ids[0].rowID, kind: .changed(keys: keys))])
            #expect(try scene.mine.edit(ids[0]).age == 60)
            try scene.mine.commit(mergePolicy: policy)
            #expect(try scene.people() == [expected, "p1 10 -", "p2 20 -"])
        }
    }

    @Test(arguments: cases)
    func bothChangedDifferentAttributes(_ backend: Backend, _ place: Place) throws {
        let outcomes: [(MergePolicy, String)] = [
            (.storeWins, "p0 0 theirs"), (.mineWins, "p0 60 -"), (.attributesStoreWins, "p0 60 theirs"),
            (.attributesMineWins, "p0 60 theirs"),
        ]
        for (policy, expected) in outcomes {
            let scene = try Scene(backend, place)
            let ids = scene.ids
            try scene.mine.edit(ids[0]).age = 60
            try scene.elsewhere { try $0.edit(ids[0]).nickname = "theirs" }
            expectError(.conflict) { try scene.mine.commit() }
            try scene.mine.commit(mergePolicy: policy)
            #expect(try scene.people() == [expected, "p1 10 -", "p2 20 -"])
        }
    }

    @Test(arguments: cases)
    func changedHereAndDeletedThere(_ backend: Backend, _ place: Place) throws {
        for (policy, isThere) in [
            (MergePolicy.storeWins, false), (.mineWins, true), (.attributesStoreWins, false), (.attributesMineWins, true),
        ] {
            let scene = try Scene(backend, place)
            let ids = scene.ids
            let person = try scene.mine.edit(ids[0])
            person.age = 60
            person.friends = [try scene.mine.edit(ids[1])]
            try scene.elsewhere { try $0.delete(ids[0]) }
            let error = expectError(.conflict) { try scene.mine.commit() }
            #expect(error?.conflicts.contains(ObjectConflict(entity: "Person", rowID: ids[0].rowID, kind: .deleted)) == true)
            try scene.mine.commit(mergePolicy: policy)
            #expect(try scene.people() == (isThere ? ["p0 60 -"] : []) + ["p1 10 -", "p2 20 -"])
            let friends = try scene.company.stack.readAndWait { try $0.fetchExisting(ids[1])?.friends.map(\.objectID) }
            #expect(friends == (isThere ? [ids[0]] : []))
            #expect(try scene.company.verified().isEmpty)
        }
    }

    @Test(arguments: cases)
    func deletedHereAndChangedThere(_ backend: Backend, _ place: Place) throws {
        for (policy, isThere) in [
            (MergePolicy.storeWins, true), (.mineWins, false), (.attributesStoreWins, true), (.attributesMineWins, false),
        ] {
            let scene = try Scene(backend, place)
            let ids = scene.ids
            try scene.mine.delete(ids[0])
            try scene.elsewhere { try $0.edit(ids[0]).age = 70 }
            let error = expectError(.conflict) { try scene.mine.commit() }
            let kind = ObjectConflict.Kind.changedWhatIsDeleted(keys: ["age"])
            #expect(error?.conflicts == [ObjectConflict(entity: "Person", rowID: ids[0].rowID, kind: kind)])
            try scene.mine.commit(mergePolicy: policy)
            #expect(try scene.people() == (isThere ? ["p0 70 -"] : []) + ["p1 10 -", "p2 20 -"])
        }
    }

    @Test(arguments: cases)
    func anObjectThatBothDeleteIsDeleted(_ backend: Backend, _ place: Place) throws {
        let scene = try Scene(backend, place)
        let ids = scene.ids
        try scene.mine.delete(ids[0])
        try scene.elsewhere { try $0.delete(ids[0]) }
        try scene.mine.commit()
        #expect(try scene.people() == ["p1 10 -", "p2 20 -"])
    }

    @Test(arguments: cases)
    func aRelationshipToAnObjectDeletedByAnotherTransaction(_ backend: Backend, _ place: Place) throws {
        for isLink in [false, true] {
            let scene = try Scene(backend, place)
            let ids = scene.ids
            let (first, second) = (try scene.mine.edit(ids[0]), try scene.mine.edit(ids[1]))
            if isLink { first.friends = [second] } else { first.spouse = second }
            try scene.elsewhere { try $0.delete(ids[1]) }
            let error = expectError(.conflict) { try scene.mine.commit() }
            let relationship = isLink ? "friends" : "spouse"
            #expect(
                error?.conflicts.contains { conflict in
                    conflict.kind == .targetDeleted(relationship: relationship) || conflict.kind == .deleted
                } == true)
            try scene.mine.commit(mergePolicy: .storeWins)
            #expect(try scene.people() == ["p0 0 -", "p2 20 -"])
            #expect(try scene.company.verified().isEmpty)
        }
    }

    @Test(arguments: cases)
    func toManyRelationshipsNeverConflict(_ backend: Backend, _ place: Place) throws {
        let scene = try Scene(backend, place)
        let ids = scene.ids
        try scene.mine.edit(ids[0]).friends = [try scene.mine.edit(ids[1])]
        try scene.elsewhere { try $0.edit(ids[0]).friends = [try $0.edit(ids[2])] }
        try scene.mine.commit()
        _ = try scene.people()
        let friends = try scene.company.stack.readAndWait { try $0.fetchExisting(ids[0])?.friends.map(\.objectID.rowID).sorted() }
        #expect(friends == [ids[1].rowID, ids[2].rowID])
    }

    @Test(arguments: cases)
    func objectsThatOthersChangedAndThatAreOnlyReadHereDoNotConflict(_ backend: Backend, _ place: Place) throws {
        let scene = try Scene(backend, place)
        let ids = scene.ids
        try scene.mine.edit(ids[0]).age = try scene.mine.edit(ids[1]).age + 1
        try scene.elsewhere { try $0.edit(ids[1]).age = 70 }
        try scene.mine.commit()
        #expect(try scene.people() == ["p0 11 -", "p1 70 -", "p2 20 -"])
    }

    /// The parent shows a newer version, which does not contain the object, and still has it registered.
    @Test(arguments: Backend.forObjectLayer, [false, true])
    func aChildInsertsAnObjectAgainThatItsParentNoLongerShows(_ backend: Backend, isRead: Bool) throws {
        try insertAgain(backend) { company, parent, held in
            let id = held.objectID
            try company.stack.performAndWait { try $0.delete(id) }
            parent.refresh()
            if isRead { _ = held.age }
        } check: { held, isInserted in
            if isInserted { #expect(held.age == 60 && !held.isDeleted) }
        }
    }

    /// The parent has deleted the object and committed, and still has it registered.
    @Test(arguments: Backend.forObjectLayer)
    func aChildInsertsAnObjectAgainThatItsParentHasDeleted(_ backend: Backend) throws {
        for isCommitted in [false, true] {
            try insertAgain(backend) { _, parent, held in
                try parent.delete(held)
                if isCommitted { try parent.commit() }
            } check: { held, isInserted in
                #expect(held.isDeleted == !isInserted)
            }
        }
    }

    /// Commits a child that changes an object which its parent no longer has, with every policy.
    /// - Parameters:
    ///   - delete: Deletes the object, which the parent has registered, after the child has changed it.
    ///   - check: Receives the parent's object, and whether the policy inserts it again.
    private func insertAgain(
        _ backend: Backend, _ delete: (_ company: Company, _ parent: UnsafeTransaction, _ held: Person) throws -> Void,
        check: (_ held: Person, _ isInserted: Bool) -> Void
    ) throws {
        for (policy, expected) in [
            (MergePolicy.mineWins, ["p0 60 -", "p1 10 -"]), (.attributesMineWins, ["p0 60 -", "p1 10 -"]), (.storeWins, ["p1 10 -"]),
        ] {
            let company = try Company(backend, expectsSilence: false)
            let ids = try company.people(2)
            let parent = company.stack.beginUnsafe()
            let held = try parent.edit(ids[0])
            let child = parent.beginUnsafe()
            try child.edit(ids[0]).age = 60
            try delete(company, parent, held)
            expectError(.conflict) { try child.commit() }
            try child.commit(mergePolicy: policy)
            try parent.commit()
            #expect(try company.described() == expected)
            check(held, expected.count == 2)
            #expect(try company.verified().isEmpty)
        }
    }

    /// Another transaction inserts the object again before the parent commits.
    @Test(arguments: Backend.forObjectLayer)
    func bothInsertAnObjectAgain(_ backend: Backend) throws {
        for (policy, expected) in [(MergePolicy.mineWins, "p0 60 -"), (.attributesMineWins, "p0 60 -"), (.storeWins, "p0 70 theirs")] {
            let company = try Company(backend)
            let id = try company.people(1)[0]
            let (parent, theirs) = (company.stack.beginUnsafe(), company.stack.beginUnsafe())
            let child = parent.beginUnsafe()
            try child.edit(id).age = 60
            let person = try theirs.edit(id)
            (person.age, person.nickname) = (70, "theirs")
            try company.stack.performAndWait { try $0.delete(id) }
            parent.refresh()
            try child.commit(mergePolicy: .mineWins)
            try theirs.commit(mergePolicy: .mineWins)
            expectError(.conflict) { try parent.commit() }
            try parent.commit(mergePolicy: policy)
            #expect(try company.described() == [expected])
            #expect(try company.verified().isEmpty)
        }
    }

    /// An object whose change or deletion was undone has its values, also if others have deleted it. A new change of it is a conflict.
    @Test(arguments: Backend.forObjectLayer, ["change", "deletion", "change and deletion"])
    func anUndoneObjectThatOthersDeleted(_ backend: Backend, _ what: String) throws {
        for (policy, isThere) in [
            (MergePolicy.storeWins, false), (.mineWins, true), (.attributesStoreWins, false), (.attributesMineWins, true),
        ] {
            for isRefreshedFirst in [false, true] {
                let company = try Company(backend, expectsSilence: false)
                let ids = try company.people(2)
                let draft = company.stack.beginUnsafe(supportsUndo: true)
                let person = try draft.edit(ids[0])
                if what != "deletion" { person.age = 5 }
                if what == "change and deletion" { draft.flush() }
                if what != "change" { try draft.delete(person) }
                draft.flush()
                try company.stack.performAndWait { try $0.delete(ids[0]) }
                if isRefreshedFirst { draft.refresh() }
                try draft.undo()
                if !isRefreshedFirst { draft.refresh() }
                #expect(!person.isDeleted && person.age == (what == "change and deletion" ? 5 : 0))
                person.nickname = "undone"
                let error = expectError(.conflict) { try draft.commit() }
                #expect(error?.conflicts == [ObjectConflict(entity: "Person", rowID: ids[0].rowID, kind: .deleted)])
                try draft.commit(mergePolicy: policy)
                let age = what == "change and deletion" ? 5 : 0
                #expect(try company.described() == (isThere ? ["p0 \(age) undone"] : []) + ["p1 10 -"])
                #expect(try company.verified().isEmpty)
            }
        }
    }

    /// The same for children, whose objects the parent or another transaction deletes, and for steps.
    @Test(arguments: Backend.forObjectLayer, ["parent", "store", "steps"])
    func anUndoneObjectThatOthersDeletedInChildrenAndSteps(_ backend: Backend, _ place: String) throws {
        for (policy, isThere) in [
            (MergePolicy.storeWins, false), (.mineWins, true), (.attributesStoreWins, false), (.attributesMineWins, true),
        ] {
            for isDeletion in [false, true] {
                let company = try Company(backend, expectsSilence: false)
                let ids = try company.people(2)
                let stack = company.stack
                let body: @Sendable (UnsafeTransaction, UnsafeTransaction?) throws -> Void = { draft, parent in
                    let person = try draft.edit(ids[0])
                    if isDeletion { try draft.delete(person) } else { person.age = 5 }
                    draft.flush()
                    if place == "parent" { try parent?.delete(ids[0]) } else { try stack.performAndWait { try $0.delete(ids[0]) } }
                    parent?.refresh()
                    draft.refresh()
                    try draft.undo()
                    #expect(!person.isDeleted && person.age == 0)
                    person.nickname = "undone"
                    let error = expectError(.conflict) { try draft.commitAndWait() }
                    #expect(error?.conflicts == [ObjectConflict(entity: "Person", rowID: ids[0].rowID, kind: .deleted)])
                    try draft.commitAndWait(mergePolicy: policy)
                    try parent?.commitAndWait()
                }
                if place == "steps" {
                    try company.stack.beginTransaction(supportsUndo: true).performAndWait { try body($0, nil) }
                } else {
                    let parent = company.stack.beginUnsafe()
                    try body(parent.beginUnsafe(supportsUndo: true), parent)
                }
                #expect(try company.described() == (isThere ? ["p0 0 undone"] : []) + ["p1 10 -"], "\(policy) \(isDeletion)")
                #expect(try company.verified().isEmpty)
            }
        }
    }

    /// Without a new change, the commit of an undone deletion changes nothing.
    @Test(arguments: Backend.forObjectLayer)
    func anUndoneDeletionOfAnObjectThatOthersDeleted(_ backend: Backend) throws {
        let company = try Company(backend, expectsSilence: false)
        let ids = try company.people(2)
        let draft = company.stack.beginUnsafe(supportsUndo: true)
        try draft.delete(ids[0])
        draft.flush()
        try company.stack.performAndWait { try $0.delete(ids[0]) }
        draft.refresh()
        try draft.undo()
        #expect(try !draft.commit())
        #expect(try company.described() == ["p1 10 -"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func deleteRulesApplyToLinksOfOtherTransactions(_ backend: Backend) throws {
        let company = try Company(backend)
        let ids = try company.people(2)
        let department = try company.stack.performAndWait { transaction throws in
            let department = try transaction.create(Into<Department>())
            department.title = "Research"
            try transaction.edit(ids[0]).department = department
            return department.objectID
        }
        let draft = company.stack.beginUnsafe()
        let mine = try draft.edit(department)
        mine.people = []
        try draft.delete(mine)
        try company.stack.performAndWait { try $0.edit(ids[1]).department = try $0.edit(department) }
        // The department has more people by now: the deny rule applies to the current ones.
        let error = expectError(.constraint) { try draft.commit() }
        #expect(error?.message.contains("Person \(ids[1].rowID)") == true)
        #expect(try company.stack.readAndWait { try $0.fetchCount(From<Department>()) } == 1)
    }

    @Test(arguments: Backend.forObjectLayer)
    func uniquenessIsCheckedAgainstCommittedRows(_ backend: Backend) throws {
        let company = try Company(backend)
        let draft = company.stack.beginUnsafe()
        try draft.create(Into<Person>()).email = "one"
        try company.stack.performAndWait { try $0.create(Into<Person>()).email = "one" }
        let error = expectError(.constraint) { try draft.commit() }
        #expect(error?.attribute == "email")
        #expect(try company.count() == 1)
    }
}

extension Company {
    fileprivate func described() throws -> [String] {
        try stack.readAndWait {
            try $0.fetchAll(From<Person>().orderBy(.ascending(\.email))).map { "\($0.email.prefix(2)) \($0.age) \($0.nickname ?? "-")" }
        }
    }

    func verified() throws -> [String] { try stack.stores.flatMap { $0.capabilities.has(.verification) ? try $0.verifyAndWait() : [] } }
}
