import PolyStoreBackend
import PolyStoreConditions
import PolyStoreCore
import TestModels

extension GraphRun {
    /// Returns the id of a target, and its key if it is an object of this stack.
    private func resolve(_ target: GraphOperation.Target, _ relationship: GraphRelationship, _ state: GraphState) -> (
        key: GraphKey?, id: any GraphID
    )? {
        switch target {
        case .own(let number):
            guard let key = keys[number], let kind = state.kind(key), relationship.targets.contains(kind), let id = ids[key] else {
                return nil
            }
            return (key, id)
        case .foreign(let rowID):
            let key = GraphKey(store: 0, family: relationship.targets[0].family, rowID: Int64(rowID))
            return elsewhere[key].map { (nil, $0) }
        }
    }

    /// Compares the result of a condition on a to-one relationship with the model.
    func fetch(
        _ level: GraphLevel, _ relationship: GraphRelationship, _ form: GraphOperation.Form, _ targets: [GraphOperation.Target],
        _ store: Int?
    ) throws {
        let found = targets.compactMap { resolve($0, relationship, level.state) }
        guard let first = found.first else { return }
        var object: (any Model)?
        if form == .object {
            guard let key = first.key, let target = try level.object(key, ids) else { return }
            object = target
        }
        let isList = form == .oneOf || form == .formatIn
        let wanted = Set((isList ? found : [first]).compactMap(\.key))
        let isNegated = form == .unequal || form == .formatUnequal
        let owners = level.state.objects.filter { relationship.owners.contains($0.value.kind) && (store == nil || $0.key.store == store) }
            .keys
        let expected = owners.filter { owner in
            guard let target = level.state.members(owner, relationship).first else { return false }
            return wanted.contains(target) != isNegated
        }
        let condition = GraphCondition(
            context: level.transaction, name: relationship.name, form: form, ids: found.map(\.id), object: object,
            configuration: store.map { $0 == 0 ? "A" : "B" })
        let result = try relationship.accept(condition)
        guard result.found.sorted() == expected.sorted(), result.count == expected.count else {
            throw GraphMismatch(
                "\(relationship) \(form) \(targets) finds \(result.found.sorted()), counts \(result.count), expected \(expected.sorted())")
        }
    }

    func batchUpdate(
        _ level: GraphLevel, _ relationship: GraphRelationship, _ target: GraphOperation.Target, _ store: Int, _ value: Int
    ) throws {
        guard let (key, id) = resolve(target, relationship, level.state) else { return }
        let configuration = store == 0 ? "A" : "B"
        let count: Int
        switch id {
        case let id as ObjectID<Department> where relationship == .department:
            count = try level.transaction.batchUpdate(From<Person>(configuration), Where(\.department == id)) {
                $0.set(\.nickname, to: "\(value)")
            }
        case let id as ObjectID<Project> where relationship == .parent:
            count = try level.transaction.batchUpdate(From<Project>(configuration), Where(\.parent == id)) {
                $0.set(\.name, to: "\(value)")
            }
        default: return
        }
        let matching = level.state.objects.keys.filter { owner in
            owner.store == store && key != nil && level.state.members(owner, relationship).first == key
        }
        let attribute = relationship == .department ? 1 : 0
        for owner in matching { level.state.setNumber(owner, attribute, value) }
        level.didChange()
        guard count == matching.count else { throw GraphMismatch("batchUpdate matches \(count), expected \(matching)") }
    }

    func fetchOrCreate(_ level: GraphLevel, _ number: Int, _ owner: GraphOperation.Target, _ store: Int, _ value: Int) throws {
        guard keys[number] == nil, let (key, found) = resolve(owner, .owner, level.state), let id = found as? ObjectID<Department> else {
            return
        }
        // Whether a new object can lead to a deleted one is found at the commit.
        if let key, level.state.objects[key] == nil { return }
        let condition = Where<Project>(\.owner == id) && Where(\.name == "\(value)")
        func fetchOrCreate() throws -> Project {
            try level.transaction.fetchOrCreate(From<Project>(store == 0 ? "A" : "B"), condition)
        }
        guard let key, key.store == store else {
            return try expectFailure(GraphFailure(code: .invalidPredicate, violations: [])) { _ = try fetchOrCreate() }
        }
        let existing = level.state.members(key, .projects).filter { level.state.objects[$0]?.numbers == [value] }.min()
        let project = try fetchOrCreate()
        guard let projectKey = GraphKey(project) else { return }
        if let existing {
            guard projectKey == existing else { throw GraphMismatch("fetchOrCreate gives \(projectKey), expected \(existing)") }
            return
        }
        guard level.state.objects[projectKey] == nil else {
            throw GraphMismatch("fetchOrCreate gives \(projectKey), expected a new object")
        }
        keys[number] = projectKey
        ids[projectKey] = project.objectID
        level.keep(project, projectKey)
        level.state.create(projectKey, .project, [value])
        level.state.setNumber(projectKey, 0, value)
        level.state.change(projectKey, .owner, .assign, [key])
        level.didChange()
    }
}
