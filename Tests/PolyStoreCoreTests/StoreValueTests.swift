import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Named values that transactions set in addition to their objects.
@Suite struct StoreValueTests {
    private func value(_ name: String, _ company: Company) throws -> [UInt8]? {
        let store = company.stack.stores[0]
        return try company.stack.performAndWait { try $0.storeValue(named: name, in: store) }
    }

    @Test(arguments: Backend.allCases)
    func valuesAreCommittedWithTheObjects(_ backend: Backend) async throws {
        let company = try Company(backend)
        let store = company.stack.stores[0]
        try await company.stack.perform { transaction in
            #expect(!transaction.hasChanges)
            #expect(try transaction.storeValue(named: "position", in: store) == nil)
            try transaction.setStoreValue([1], named: "position", in: store)
            #expect(transaction.hasChanges)
            #expect(try transaction.storeValue(named: "position", in: store) == [1])
            try transaction.setStoreValue([2], named: "position", in: store)
            try transaction.create(Into<Person>()).email = "a"
            #expect(try transaction.storeValue(named: "position", in: store) == [2])
        }
        #expect(try value("position", company) == [2])
        #expect(try company.count() == 1)
        try company.stack.performAndWait { transaction in
            try transaction.setStoreValue(nil, named: "position", in: store)
            #expect(try transaction.storeValue(named: "position", in: store) == nil)
            #expect(try transaction.storeValueNames(prefix: "", in: store) == [])
        }
        #expect(try value("position", company) == nil)
    }

    @Test(arguments: Backend.allCases)
    func aFailedTransactionSetsNoValue(_ backend: Backend) throws {
        let company = try Company(backend, expectsSilence: false)
        let store = company.stack.stores[0]
        try company.people(1)
        expectError(.cancelled) {
            try company.stack.performAndWait { transaction in
                try transaction.setStoreValue([1], named: "position", in: store)
                try transaction.cancel()
            }
        }
        expectError(.constraint) {
            try company.stack.performAndWait { transaction in
                try transaction.create(Into<Person>()).email = "p0@example.com"
                try transaction.setStoreValue([1], named: "position", in: store)
            }
        }
        #expect(try value("position", company) == nil)
    }

    @Test(arguments: Backend.allCases)
    func eachTransactionOfAGroupSeesItsPredecessorsValues(_ backend: Backend) async throws {
        let company = try Company(backend)
        let (stack, store) = (company.stack, company.stack.stores[0])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await stack.perform { transaction in
                        let last = try transaction.storeValue(named: "count", in: store)?.first ?? 0
                        try transaction.setStoreValue([last + 1], named: "count", in: store)
                        try transaction.create(Into<Person>()).email = "\(last)"
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try value("count", company) == [20])
        #expect(try company.count() == 20)
    }

    @Test(arguments: Backend.allCases)
    func anExplicitCommitWritesThem(_ backend: Backend) throws {
        let company = try Company(backend)
        let store = company.stack.stores[0]
        let result = try company.stack.beginSynchronous { transaction in
            try transaction.setStoreValue([1], named: "position", in: store)
            #expect(try transaction.commit())
            #expect(try transaction.storeValue(named: "position", in: store) == [1])
            expectError(.closed) { try transaction.setStoreValue([2], named: "position", in: store) }
        }
        #expect(result == true)
        #expect(try company.stack.beginSynchronous { try $0.setStoreValue([3], named: "position", in: store) } == nil)
        #expect(try value("position", company) == [1])
    }

    @Test(arguments: Backend.allCases)
    func unsafeTransactionsReadThemAndSetNone(_ backend: Backend) throws {
        let company = try Company(backend)
        let store = company.stack.stores[0]
        try company.stack.performAndWait { try $0.setStoreValue([1], named: "position", in: store) }
        let draft = company.stack.beginUnsafe()
        #expect(try draft.storeValue(named: "position", in: store) == [1])
        expectError(.misuse) { try draft.setStoreValue([2], named: "position", in: store) }
        let child = draft.beginUnsafe()
        #expect(try child.storeValue(named: "position", in: store) == [1])
        #expect(try child.storeValueNames(prefix: "pos", in: store) == ["position"])
        expectError(.misuse) { try child.setStoreValue([2], named: "position", in: store) }
        #expect(!draft.hasChanges)
        try company.stack.performAndWait { transaction in
            try transaction.setStoreValue([3], named: "position", in: store)
            try transaction.setStoreValue([4], named: "b", in: store)
            #expect(try transaction.beginUnsafe().storeValue(named: "position", in: store) == [3], "a child of a queued transaction")
            #expect(try transaction.beginUnsafe().storeValueNames(prefix: "", in: store) == ["b", "position"])
        }
    }

    @Test(arguments: Backend.allCases)
    func eachStoreHasItsOwn(_ backend: Backend) throws {
        let folder = try Folder()
        let models: [any Model.Type] = [Person.self, Department.self, Project.self]
        let stack = try DataStack(Schema("Split", models, configurations: ["A": models, "B": models]))
        let first = try stack.addStore(backend.store(in: folder, "a"), configuration: "A")
        let second = try stack.addStore(backend.store(in: folder, "b"), configuration: "B")
        try stack.performAndWait { transaction in
            try transaction.setStoreValue([1], named: "v", in: first)
            try transaction.setStoreValue([2], named: "v", in: second)
        }
        let other = try Company(backend)
        let foreign = other.stack.stores[0]
        try stack.performAndWait { transaction throws in
            #expect(try transaction.storeValue(named: "v", in: first) == [1])
            #expect(try transaction.storeValue(named: "v", in: second) == [2])
            expectError(.misuse) { try transaction.storeValue(named: "v", in: foreign) }
            expectError(.misuse) { try transaction.setStoreValue([3], named: "v", in: foreign) }
        }
    }

    @Test func limitsAndClaimsAreJudgedWhenAValueIsSet() throws {
        let folder = try Folder()
        let faults = Faults()
        let stack = try DataStack(companySchema)
        let store = try stack.addStore(Backend.sqlite.store(in: folder).wrapped(faults))
        try stack.performAndWait { transaction in
            expectError(.invalidValue) { try transaction.setStoreValue([1], named: "", in: store) }
            expectError(.invalidValue) { try transaction.setStoreValue([1], named: String(repeating: "x", count: 201), in: store) }
            expectError(.invalidValue) { try transaction.setStoreValue(Array(repeating: 0, count: 65_537), named: "v", in: store) }
            expectError(.invalidValue) { try transaction.storeValue(named: "", in: store) }
            #expect(!transaction.hasChanges)
            try transaction.setStoreValue([1], named: "v", in: store)
        }
        faults.hide([.namedValues])
        expectError(.unsupported) { try stack.performAndWait { try $0.setStoreValue([2], named: "v", in: store) } }
        faults.hide([])
        #expect(try stack.performAndWait { try $0.storeValue(named: "v", in: store) } == [1])
    }

    @Test func aReadOnlyStoreShowsThemAndTakesNone() throws {
        let folder = try Folder()
        let configuration = Backend.sqlite.store(in: folder)
        do {
            let stack = try DataStack(companySchema)
            let store = try stack.addStore(configuration)
            try stack.performAndWait { try $0.setStoreValue([1], named: "v", in: store) }
        }
        let stack = try DataStack(companySchema)
        let store = try stack.addStore(configuration.readOnly())
        #expect(try stack.performAndWait { try $0.storeValue(named: "v", in: store) } == [1])
        expectError(.readOnly) { try stack.performAndWait { try $0.setStoreValue([2], named: "v", in: store) } }
    }
}
