import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import TestModels
import TestSupport
import Testing

/// Writing objects of a hierarchy.
@Suite struct InheritanceChangeTests {
    @Test(arguments: Backend.forObjectLayer)
    func anObjectOfAnAbstractEntityCannotBeCreated(_ backend: Backend) throws {
        let parties = try Parties(backend)
        let error = expectError(.misuse) { try parties.write { _ = try $0.create(Into<Party>()) } }
        #expect(error?.message.contains("Human, Worker, Firm") == true)
    }

    @Test(arguments: Backend.forObjectLayer)
    func pendingObjectsAreFoundByTheirClass(_ backend: Backend) throws {
        try Parties(backend).write { transaction throws in
            let dee = try transaction.create(Into<Human>())
            (dee.name, dee.age) = ("Dee", 60)
            let eve = try transaction.create(Into<Worker>())
            (eve.name, eve.age, eve.badge) = ("Eve", 20, "E1")
            let firm = try transaction.create(Into<Firm>())
            (firm.name, firm.director, firm.staff) = ("Dot", dee, [dee, eve])
            #expect(try transaction.fetchAll(From<Human>().orderBy(.ascending(\.age))).names == ["Eve", "Ann", "Bob", "Cy", "Dee"])
            #expect(try transaction.fetchAll(From<Worker>().orderBy(.ascending(\.name)).limit(2)).names == ["Bob", "Cy"])
            #expect(try transaction.fetchAll(From<Human>().tweak { $0.includesSubentities = false }).names == ["Ann", "Dee"])
            #expect(try transaction.fetchCount(From<Party>()) == 8)
            #expect(try transaction.fetchCount(From<Firm>()) == 3)
            #expect(try transaction.fetchAll(From<Firm>(), Where("ANY staff.badge == 'E1'")).names == ["Dot"])
            #expect(try transaction.fetchAll(From<Worker>(), Where(\.employer?.name == "Dot")).names == ["Eve"])
            let bob = try #require(try transaction.fetchOne(From<Worker>(), Where(\.name == "Bob")))
            bob.name = "Zoe"
            #expect(try transaction.fetchAll(From<Party>().orderBy(.descending(\.name)).limit(2)).names == ["Zoe", "Zeta"])
            #expect(try transaction.fetchOne(From<Firm>(), Where(\.name == "Zoe")) == nil)
            try transaction.delete(bob)
            #expect(try transaction.fetchCount(From<Worker>()) == 2)
        }
    }

    @Test(arguments: Backend.allCases)
    func changesSurviveReopening(_ backend: Backend) throws {
        guard backend != .memory else { return }
        let folder: Folder
        do {
            let parties = try Parties(backend)
            folder = parties.folder
            let bob = try parties.id(Party.self, "Bob")
            try parties.write { transaction throws in
                let object = try transaction.edit(bob)
                object.name = "Bobby"
                (object as? Worker)?.badge = "B2"
            }
        }
        let stack = try DataStack(Schema("Parties 1", Visit.self, Worker.self, Party.self))
        try stack.addStore(backend.store(in: folder))
        try stack.readAndWait { context throws in
            let bob = try #require(try context.fetchOne(From<Party>(), Where(\.name == "Bobby")))
            #expect((bob as? Worker)?.badge == "B2")
            #expect(bob.sponsor?.name == "Acme")
            #expect(try context.fetchCount(From<Party>()) == 5)
        }
        #expect(try stack.stores[0].verifyAndWait().isEmpty)
    }

    @MainActor @Test(arguments: Backend.forObjectLayer)
    func theViewFollowsChangesOfEveryClass(_ backend: Backend) throws {
        let parties = try Parties(backend)
        let everybody = try parties.stack.view.fetchAll(From<Party>().orderBy(.ascending(\.name)))
        let (acme, bob, cy) = (everybody[0], everybody[2], everybody[3])
        let boss = try #require((bob as? Worker)?.boss)
        #expect(boss === cy)
        let (bobID, cyID, acmeID) = (bob.objectID, cy.objectID, acme.objectID)
        try parties.stack.performAndWait { transaction throws in
            let bob = try transaction.edit(bobID)
            bob.name = "Bobby"
            (bob as? Worker)?.boss = nil
            (bob as? Human)?.employer = nil
            (try transaction.edit(acmeID) as? Firm)?.revenue = 7
            for firm in try transaction.fetchAll(From<Firm>(), Where(\.name == "Zeta")) { try transaction.delete(firm) }
            try transaction.delete(cyID)
        }
        #expect(bob.name == "Bobby")
        #expect((bob as? Worker)?.boss == nil)
        #expect((acme as? Firm)?.revenue == 7)
        #expect((acme as? Firm)?.staff.map { $0.name } == ["Ann"])
        #expect(cy.isDeleted)
        #expect(everybody[4].isDeleted)
        #expect(try parties.stack.view.fetchCount(From<Party>()) == 3)
    }

    @Test(arguments: Backend.forObjectLayer)
    func deleteRulesOfAClassApplyToItsObjects(_ backend: Backend) throws {
        let parties = try Parties(backend)
        let acme = try parties.id(Firm.self, "Acme")
        expectError(.constraint) { try parties.write { try $0.delete(acme) } }
        try parties.write { transaction throws in
            let firm = try transaction.edit(acme)
            firm.staff = []
            try transaction.delete(firm)
        }
        try parties.read { context throws in
            #expect(try context.fetchAll(From<Party>().orderBy(.ascending(\.name))).names == ["Ann", "Bob", "Cy", "Zeta"])
            // Deleting it deletes its visit, and clears the sponsor of those it sponsored.
            #expect(try context.fetchAll(From<Visit>()).map { $0.day } == [1, 3])
            #expect(try context.fetchOne(From<Worker>(), Where(\.name == "Bob"))?.sponsor == nil)
        }
        // Ids of a superclass.
        let ids = try parties.read { try $0.fetchObjectIDs(From<Party>(), Where("name IN {'Ann', 'Bob', 'Zeta'}")) }
        try parties.write { try $0.delete(ids) }
        try parties.read { context throws in
            #expect(try context.fetchAll(From<Party>()).names == ["Cy"])
            #expect(try context.fetchCount(From<Visit>()) == 0)
        }
        #expect(try parties.stack.stores[0].verifyAndWait().isEmpty)
    }

    @Test(arguments: Backend.forObjectLayer)
    func requirementsOfAClassApplyOnlyToItsObjects(_ backend: Backend) throws {
        let parties = try Parties(backend)
        try parties.write { try $0.create(Into<Human>()).name = "Fay" }
        let badge = expectError(.constraint) { try parties.write { try $0.create(Into<Worker>()).name = "Gus" } }
        #expect(badge?.attribute == "badge")
        let refused = expectError(.constraint) { try parties.write { try $0.create(Into<Worker>()).badge = "none" } }
        #expect(refused?.message.contains("is no badge") == true)
        let director = expectError(.constraint) { try parties.write { try $0.create(Into<Firm>()).name = "Hex" } }
        #expect(director?.attribute == "director")
        let reports = expectError(.constraint) {
            try parties.write { transaction throws in
                let boss = try transaction.create(Into<Worker>())
                boss.badge = "boss"
                for number in 0..<3 {
                    let worker = try transaction.create(Into<Worker>())
                    (worker.badge, worker.boss) = ("\(number)", boss)
                }
            }
        }
        #expect(reports?.attribute == "reports")
    }

    @Test(arguments: Backend.forObjectLayer)
    func uniqueMeansUniqueInTheWholeHierarchy(_ backend: Backend) throws {
        let parties = try Parties(backend)
        let error = expectError(.constraint) {
            try parties.write { transaction throws in
                let worker = try transaction.create(Into<Worker>())
                (worker.badge, worker.code) = ("X", "a")
            }
        }
        #expect(error?.attribute == "code")
    }

    @Test(arguments: Backend.forObjectLayer)
    func deleteAllIsOfTheClass(_ backend: Backend) throws {
        let parties = try Parties(backend)
        try parties.write { transaction throws in
            try transaction.deleteAll(From<Firm>(), Where(\.name == "Zeta"))
            #expect(try transaction.deleteAll(From<Human>().where(\.age > 30).tweak { $0.includesSubentities = false }) == 0)
            #expect(try transaction.deleteAll(From<Worker>()) == 2)
        }
        #expect(try parties.read { try $0.fetchAll(From<Party>().orderBy(.ascending(\.name))).names } == ["Acme", "Ann"])
    }
}
