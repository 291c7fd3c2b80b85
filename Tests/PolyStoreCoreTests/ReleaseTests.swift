import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Objects of any context can be released on any thread.
@Suite struct ReleaseTests {
    /// A container that carries objects to the thread that releases them.
    private final class Cargo: @unchecked Sendable {  // emptied by one block of a queue
        var objects: [AnyObject]
        init(_ objects: [AnyObject]) { self.objects = objects }
    }

    private final class Releaser: Sendable {
        private let queue = DispatchQueue(label: "releases", attributes: .concurrent)
        private let group = DispatchGroup()

        func release(_ objects: consuming [AnyObject]) {
            // In four parts, so that several threads release objects of one bucket of the identity map.
            let all = objects
            for part in 0..<4 {
                let cargo = Cargo(stride(from: part, to: all.count, by: 4).map { all[$0] })
                queue.async(group: group) { cargo.objects = [] }
            }
        }

        func wait() { group.wait() }
    }

    private enum Kind: CaseIterable { case view, context, draft, child }

    /// Fetches, follows relationships and looks up objects while other threads release the results.
    private func work(_ context: Context, rounds: Int) throws {
        let releaser = Releaser()
        for round in 0..<rounds {
            let people = try context.fetchAll(From<Person>())
            #expect(people.map(\.age) == (0..<people.count).map { $0 * 10 }, "round \(round)")
            #expect(people.allSatisfy { $0.department?.title == "Research" })
            let friends = people[0].friends
            releaser.release(people)
            releaser.release(Array(friends))
            let again = try context.fetchAll(From<Person>(), Where(\.age < 300))
            for person in again { #expect(try context.fetchExisting(person.objectID) === person) }
            #expect(again[0].friends.count == 2)
            releaser.release(again)
        }
        releaser.wait()
    }

    private func company(_ backend: Backend, _ count: Int) throws -> Company {
        let company = try Company(backend)
        try company.people(count)
        try company.stack.performAndWait { transaction throws in
            let department = try transaction.create(Into<Department>())
            department.title = "Research"
            let people = try transaction.fetchAll(From<Person>())
            for person in people { person.department = department }
            people[0].friends = [people[1], people[2]]
        }
        return company
    }

    @MainActor
    @Test(arguments: Backend.allCases)
    func objectsAreReleasedOnOtherThreads(_ backend: Backend) throws {
        let company = try company(backend, 120)
        for kind in Kind.allCases {
            switch kind {
            case .view: try work(company.stack.newView(), rounds: 30)
            case .context: try work(company.stack.newContext(), rounds: 30)
            case .draft: try work(company.stack.beginUnsafe(), rounds: 30)
            case .child: try work(company.stack.beginUnsafe().beginUnsafe(), rounds: 30)
            }
            #expect(company.stack.openSnapshots.isEmpty, "\(kind)")
        }
        try company.stack.performAndWait { try work($0, rounds: 30) }
    }

    /// The release of a context's last object releases the context, on any thread.
    @Test(arguments: Backend.allCases)
    func contextsEndOnOtherThreads(_ backend: Backend) throws {
        let company = try company(backend, 20)
        let releaser = Releaser()
        for _ in 0..<50 {
            weak var context: RefreshableContext?
            do {
                let living = company.stack.newContext()
                context = living
                releaser.release(try living.fetchAll(From<Person>()))
            }
            releaser.wait()
            #expect(context == nil)
        }
        #expect(company.stack.openSnapshots.isEmpty)
    }

    /// An unqueued transaction is released on another thread while its objects are in use here.
    @Test(arguments: Backend.allCases)
    func draftsEndOnOtherThreads(_ backend: Backend) throws {
        let company = try Company(backend, expectsSilence: false)
        try company.people(20)
        let releaser = Releaser()
        for _ in 0..<50 {
            var people: [Person] = []
            do {
                let draft = company.stack.beginUnsafe()
                people = try draft.fetchAll(From<Person>())
                people[0].age = 1
                people[1].age += 1
                releaser.release([draft])
            }
            for person in people { _ = person.department }
            #expect(people[0].age == 1 && people[1].age == 11 && people[2].age == 20)
            releaser.wait()
            #expect(people[0].age == 1 && people[1].age == 11 && people[2].age == 20)
            people[0].age = 5
            releaser.release(people)
        }
        releaser.wait()
        #expect(company.stack.openSnapshots.isEmpty)
        #expect(company.logger.lines.contains { $0.contains("is lost: its transaction was released") })
    }

    /// Prefetched objects do not retain a context, and unchanged objects do not retain an unqueued transaction.
    @Test(arguments: Backend.allCases)
    func aReleasedContextIsDeallocated(_ backend: Backend) throws {
        let company = try company(backend, 20)
        // More than the reader slots of LMDB.
        for _ in 0..<(backend == .lmdb ? 1100 : 40) {
            let context = company.stack.newContext()
            let people = try context.fetchAll(From<Person>(), Tweak { $0.prefetch = ["department", "friends.department"] })
            #expect(people.count == 20)
        }
        #expect(company.stack.openSnapshots.isEmpty)
        var kept: [Person] = []
        for _ in 0..<40 {
            let draft = company.stack.beginUnsafe()
            kept += try draft.fetchAll(From<Person>(), Tweak { $0.prefetch = ["department"] })
        }
        #expect(company.stack.openSnapshots.isEmpty)
        #expect(kept.count == 800 && kept.allSatisfy { $0.age >= 0 })
    }

    /// A prefetched object retains its context like any other once the program holds it.
    @Test(arguments: Backend.allCases)
    func anObjectThatWasFetchedAheadCanReadOn(_ backend: Backend) throws {
        let company = try company(backend, 3)
        func department() throws -> Department? {
            try company.stack.newContext().fetchOne(From<Person>(), Tweak { $0.prefetch = ["department"] })?.department
        }
        let found = try #require(try department())
        #expect(found.title == "Research" && found.people.count == 3)
        #expect(company.stack.openSnapshots.count == 1)
    }
}
