import Foundation
import PolyStore
import SeededRandom

/// Contexts of all kinds with monitors and observers, whose callbacks do random things.
@MainActor
final class CallbackWorld {
    private struct List {
        let context: Int
        let monitor: ListMonitor<Animal>
        var shape: ListShape
        var mirrors: [ListMirror]
    }

    private struct Object {
        let context: Int
        let monitor: ObjectMonitor<Animal>
        var mirrors: [ObjectMirror]
    }

    /// The receiver of the closures of a publisher, with what the last one has shown.
    private final class Reader {
        var shown: [String] = []
    }

    private struct ListPublication {
        let context: Int
        let publisher: ListPublisher<Animal>
        var shape: ListShape
        let reader: Reader
    }

    private struct ObjectPublication {
        let context: Int
        let id: ObjectID<Animal>
        let publisher: ObjectPublisher<Animal>
        let reader: Reader
    }

    private let stack: DataStack
    private let contexts: [any MonitoringContext]
    private let parent: UnsafeTransaction
    private var commits: RandomCommits
    private var lists: [List] = []
    private var objects: [Object] = []
    private var listPublications: [ListPublication] = []
    private var objectPublications: [ObjectPublication] = []
    /// The observations of pending changes, by context.
    private var observations: [Int: PendingChangesObservation] = [:]
    /// Observers whose monitor was released.
    private var orphans: [ListMirror] = []
    /// The number of actions that callbacks may still take.
    private var budget = 0
    private(set) var actionCount = 0
    private(set) var failures: [String] = []
    private var steps: [String] = []

    init(_ stack: DataStack, seed: UInt64) throws {
        self.stack = stack
        commits = RandomCommits(seed: seed)
        parent = stack.beginUnsafe()
        contexts = [
            stack.view, stack.newView(), stack.newView(.manual), stack.newContext(), stack.beginUnsafe(supportsUndo: true),
            parent.beginUnsafe(supportsUndo: true),
        ]
        try commit()
        for context in contexts.indices {
            for _ in 0..<2 { try addList(context) }
            try addObject(context)
        }
        for context in 0..<Self.viewCount { try addPublishers(context) }
        for context in Self.drafts { observe(context) }
    }

    /// The first contexts are views, which have publishers.
    private static let viewCount = 3
    /// The contexts that are unqueued transactions.
    private static let drafts = 4...5

    // MARK: Random choices

    private func number(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &commits.random) }

    private func fail(_ problem: String) { failures.append("\(problem) after \(steps.joined(separator: ", "))") }

    /// Called in each callback.
    private func callback(_ call: String) {
        guard budget > 0, number(3) == 0 else { return }
        budget -= 1
        steps.append("[\(call)]")
        act()
    }

    /// Makes one random change or request.
    private func act() {
        actionCount += 1
        do {
            switch number(25) {
            case 0...2: try log("commit") { try commit() }
            case 3, 4: try log("refetch") { try refetch() }
            case 5: if let list = randomList() { log("add observer") { addMirror(list) } }
            case 6: log("remove observer", removeMirror)
            case 7: try log("add list") { try addList(number(contexts.count)) }
            case 8: log("release list", releaseList)
            case 9: try log("add object") { try addObject(number(contexts.count)) }
            case 10: if objects.count > 6 { log("release object") { _ = objects.remove(at: number(objects.count)) } }
            case 11:
                if !objects.isEmpty { log("add object observer") { addObjectMirror(number(objects.count)) } }
            case 12: try log("refresh") { try refresh(number(contexts.count)) }
            case 13: try log("refetch publisher", refetchPublisher)
            case 14: try log("add publishers") { try addPublishers(number(Self.viewCount)) }
            case 15: log("release publisher", releasePublisher)
            case 16: log("observe again") { observe(Self.drafts.lowerBound + number(Self.drafts.count)) }
            default: try actOnTransaction()
            }
        } catch {
            fail("\(error)")
        }
    }

    private func log<R>(_ step: String, _ body: () throws -> R) rethrows -> R {
        steps.append(step)
        return try body()
    }

    private func commit() throws {
        let seed = UInt64.random(in: 0...UInt64.max, using: &commits.random)
        try stack.performAndWait { transaction in
            var commits = RandomCommits(seed: seed)
            try commits.change(transaction)
        }
    }

    private func refresh(_ index: Int) throws {
        if let draft = contexts[index] as? UnsafeTransaction { draft.refresh() }
        try (contexts[index] as? RefreshableContext)?.refresh()
    }

    private func actOnTransaction() throws {
        let index = Self.drafts.lowerBound + number(Self.drafts.count)
        guard let draft = contexts[index] as? UnsafeTransaction else { return }
        switch number(9) {
        case 0...2:
            steps.append("change \(index)")
            try commits.change(draft)
        case 3:
            try log("change and flush \(index)") {
                try commits.change(draft)
                draft.flush()
            }
        case 4: log("rollback \(index)") { draft.rollback() }
        case 5, 6:
            steps.append("commit \(index)")
            do { try draft.commit(mergePolicy: .mineWins) } catch is StoreError { draft.rollback() }
        case 7: try log("undo \(index)") { try draft.undo() }
        default: try log("redo \(index)") { try draft.redo() }
        }
    }

    // MARK: Monitors

    private func randomList() -> Int? { lists.indices.randomElement(using: &commits.random) }

    private func randomShape() -> ListShape { ListShape.all[number(ListShape.all.count)] }

    private func monitor(_ shape: ListShape, _ context: Int) throws -> ListMonitor<Animal> {
        guard let sectionBy = shape.sectionBy else { return try contexts[context].monitorList(shape.source) }
        return try contexts[context].monitorSectionedList(shape.source, sectionBy)
    }

    private func addList(_ context: Int) throws {
        let shape = randomShape()
        let monitor = try monitor(shape, context)
        lists.append(List(context: context, monitor: monitor, shape: shape, mirrors: []))
        addMirror(lists.count - 1)
        addMirror(lists.count - 1)
    }

    private func addMirror(_ index: Int) {
        let mirror = ListMirror(lists[index].monitor)
        let context = lists[index].context
        mirror.onCall = { [weak self] call in MainActor.assumeIsolated { self?.callback("\(context) \(call)") } }
        lists[index].monitor.addObserver(mirror)
        lists[index].mirrors.append(mirror)
    }

    private func removeMirror() {
        guard let index = randomList(), lists[index].mirrors.count > 1 else { return }
        lists[index].monitor.removeObserver(lists[index].mirrors.remove(at: number(lists[index].mirrors.count)))
    }

    private func releaseList() {
        guard lists.count > 10, let index = randomList() else { return }
        orphans += lists.remove(at: index).mirrors
    }

    private func refetch() throws {
        guard let index = randomList() else { return }
        let shape = randomShape()
        lists[index].shape = shape
        try lists[index].monitor.refetch(shape.source, sectionBy: shape.sectionBy)
    }

    private func addObject(_ context: Int) throws {
        guard let animal = try contexts[context].fetchAll(From<Animal>()).randomElement(using: &commits.random), !animal.isDeleted else {
            return
        }
        objects.append(Object(context: context, monitor: try contexts[context].monitorObject(animal), mirrors: []))
        addObjectMirror(objects.count - 1)
    }

    private func addObjectMirror(_ index: Int) {
        let context = objects[index].context
        let mirror = ObjectMirror(objects[index].monitor, comparesKeys: !(contexts[context] is UnsafeTransaction))
        mirror.onCall = { [weak self] call in MainActor.assumeIsolated { self?.callback("\(context) \(call)") } }
        objects[index].monitor.addObserver(mirror)
        objects[index].mirrors.append(mirror)
    }

    // MARK: Publishers and observations

    private func addPublishers(_ context: Int) throws {
        guard let view = contexts[context] as? ViewContext else { return }
        let shape = randomShape()
        let list = ListPublication(
            context: context, publisher: try view.publishList(shape.source, sectionBy: shape.sectionBy), shape: shape, reader: Reader())
        listPublications.append(list)
        list.publisher.addObserver(list.reader, notifyInitial: true) { [weak self, weak reader = list.reader] publisher in
            reader?.shown = Self.text(publisher.snapshot)
            self?.callback("\(context) list publisher")
        }
        guard let animal = try view.fetchAll(From<Animal>()).randomElement(using: &commits.random) else { return }
        let object = ObjectPublication(
            context: context, id: animal.objectID, publisher: try view.publishObject(animal), reader: Reader())
        objectPublications.append(object)
        object.publisher.addObserver(object.reader, notifyInitial: true) { [weak self, weak reader = object.reader] publisher in
            reader?.shown = Self.text(publisher.snapshot)
            self?.callback("\(context) object publisher")
        }
    }

    private func refetchPublisher() throws {
        guard let index = listPublications.indices.randomElement(using: &commits.random) else { return }
        let shape = randomShape()
        listPublications[index].shape = shape
        try listPublications[index].publisher.refetch(shape.source, sectionBy: shape.sectionBy)
    }

    private func releasePublisher() {
        if listPublications.count > 4 { listPublications.remove(at: number(listPublications.count)) }
        if objectPublications.count > 4 { objectPublications.remove(at: number(objectPublications.count)) }
    }

    private func observe(_ context: Int) {
        observations[context]?.cancel()
        observations[context] = (contexts[context] as? UnsafeTransaction)?.observe { [weak self] _ in
            self?.callback("\(context) pending changes")
        }
    }

    private static func text(_ snapshot: ListSnapshot<Animal>) -> [String] {
        zip(snapshot.objectIDs, snapshot).map { "\($0) \($1.name) \($1.age)" }
    }

    private static func text(_ snapshot: ObjectSnapshot<Animal>?) -> [String] { snapshot.map { ["\($0.name) \($0.age)"] } ?? [] }

    private func checkPublishers() throws {
        for list in listPublications {
            let name = "\(list.context) publisher \(list.shape.name)"
            let fetched = try list.shape.fetch(contexts[list.context])
            let objects = fetched.flatMap(\.objects).map { "\($0.objectID) \($0.name) \($0.age)" }
            let shown = Self.text(list.publisher.snapshot)
            if shown != objects { fail("\(name): the publisher has \(shown), fetched is \(objects)") }
            if list.publisher.snapshot.isSectioned, list.publisher.snapshot.sections.map(\.name) != fetched.map(\.name) {
                fail("\(name): the publisher has other sections than \(fetched.map(\.name))")
            }
            if list.reader.shown != shown { fail("\(name): the closure was called with \(list.reader.shown), the publisher has \(shown)") }
        }
        for object in objectPublications {
            let name = "\(object.context) publisher of \(object.id)"
            let found = try contexts[object.context].fetchExisting(object.id).map { ["\($0.name) \($0.age)"] } ?? []
            let shown = Self.text(object.publisher.snapshot)
            if shown != found { fail("\(name): the publisher has \(shown), fetched is \(found)") }
            if object.reader.shown != shown { fail("\(name): the closure was called with \(object.reader.shown), not \(shown)") }
        }
    }

    // MARK: Steps

    /// Takes an action, with further ones in the callbacks, and checks all monitors.
    func step() throws {
        steps = []
        budget = number(7)
        // Half of the actions are commits.
        if number(2) == 0 { try log("commit") { try commit() } } else { act() }
        budget = 0
        steps.append("end")
        if number(4) == 0 {
            try parent.commit(mergePolicy: .mineWins)
            // The child reads the values of its parent, which shows another version now.
            try refresh(5)
        }
        for (index, context) in contexts.enumerated() {
            if let draft = context as? UnsafeTransaction { draft.flush() } else { try refresh(index) }
        }
        try check()
    }

    /// Returns the list as it is fetched now. In a transaction, an object that another transaction has deleted can have pending changes; it keeps its values,
    /// and rows that are related to it do not find it. The list is therefore compared with a new monitor there, not with the values of the objects.
    private func fetch(_ list: List) throws -> [ListMirror.Section] {
        if contexts[list.context] is UnsafeTransaction { return ListMirror.contents(of: try monitor(list.shape, list.context)) }
        return try list.shape.fetch(contexts[list.context]).map { ListMirror.Section(name: $0.name, ids: $0.objects.map(\.objectID)) }
    }

    private func check() throws {
        for list in lists {
            let name = "\(list.context) \(list.shape.name)"
            let fetched = try fetch(list)
            let shown = ListMirror.contents(of: list.monitor)
            if shown != fetched { fail("\(name): the monitor has \(shown), fetched is \(fetched)") }
            for mirror in list.mirrors {
                if mirror.sections != shown { fail("\(name): the calls give \(mirror.sections), the monitor has \(shown)") }
                check(mirror, name)
            }
        }
        try checkPublishers()
        for mirror in orphans { check(mirror, "released") }
        orphans = []
        for object in objects {
            let found = try contexts[object.context].fetchExisting(object.monitor.objectID).map(ObjectMirror.values)
            let name = "\(object.context) \(object.monitor.objectID)"
            if object.monitor.object.map(ObjectMirror.values) != found { fail("\(name): the monitor does not have \(found as Any)") }
            for mirror in object.mirrors {
                if mirror.values != found { fail("\(name): the calls give \(mirror.values as Any), fetched is \(found as Any)") }
                if mirror.isAnnounced { fail("\(name): a change without its end") }
                for problem in mirror.problems { fail("\(name): \(problem)") }
            }
        }
    }

    private func check(_ mirror: ListMirror, _ name: String) {
        if mirror.isChanging || mirror.isRefetching { fail("\(name): a change without its end") }
        for problem in mirror.problems { fail("\(name): \(problem)") }
    }
}
