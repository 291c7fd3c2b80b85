import PolyStoreBackend
import PolyStoreCore
import TestModels

extension GraphRun {
    /// Applies an operation to the innermost transaction and its model.
    func apply(_ operation: GraphOperation, _ level: GraphLevel) throws {
        switch operation {
        case .fetch(let relationship, let form, let targets, let store):
            return try fetch(level, relationship, form, targets, store)
        case .release: return level.releaseObjects()
        case .relateGone(let owner, let relationship, let target): return try relateGone(owner, relationship, target, level)
        default: break
        }
        // Nothing can be changed after the commit.
        guard !levels[0].isCommitted else { return }
        switch operation {
        case .create(let number, let kind, let store):
            guard keys[number] == nil else { return }
            let object = try create(level.transaction, number, kind, store)
            guard let key = GraphKey(object) else { return }
            keys[number] = key
            level.state.create(key, kind, Array(repeating: 0, count: kind.attributeCount))
            level.keep(object, key)
            level.didChange()
        case .delete(let number, let byID): try delete(number, byID: byID, level)
        case .set(let number, let attribute, let value):
            guard let key = keys[number], let kind = level.state.kind(key), attribute < kind.attributeCount,
                let object = try level.object(key, ids)
            else { return }
            GraphKind.setNumber(object, attribute, value)
            level.state.setNumber(key, attribute, value)
            level.didChange()
        case .change(let number, let relationship, let change, let targets, let isInPlace):
            try self.change(number, relationship, change, targets, isInPlace: isInPlace, level)
        case .batchUpdate(let relationship, let target, let store, let value):
            try batchUpdate(level, relationship, target, store, value)
        case .fetchOrCreate(let number, let owner, let store, let value): try fetchOrCreate(level, number, owner, store, value)
        case .flush, .undo, .redo: try step(operation, level)
        case .refresh:
            guard levels.count == 1, let transaction = level.unsafe else { return }
            transaction.refresh()
            level.state.refresh(to: committed)
            level.base = committed
            level.updateOriginals()
        case .otherSet, .otherCreate, .otherDelete: try applyElsewhere(operation, level)
        default: break
        }
    }

    private func create(_ transaction: Transaction, _ number: Int, _ kind: GraphKind, _ store: Int) throws -> any Model {
        let name = store == 0 ? "A" : "B"
        func created<T: Model>(_ type: T.Type) throws -> T {
            let object = try transaction.create(Into<T>(name))
            if let key = GraphKey(object) { ids[key] = object.objectID }
            if let person = object as? Person { person.email = "\(number)" }
            if let worker = object as? Worker { worker.badge = "\(number)" }
            // Without a value these show as 0 too.
            return object
        }
        return try created(kind.type)
    }

    private func delete(_ number: Int, byID: Bool, _ level: GraphLevel) throws {
        guard let key = keys[number], key != marker, level.state.kind(key) != nil else { return }
        if byID {
            // Kept, so that later operations can use the deleted object.
            let object = try level.object(key, ids)
            try withExtendedLifetime(object) { try ids[key]?.delete(level.transaction) }
        } else {
            guard let object = try level.object(key, ids) else { return }
            func delete<T: Model>(_ object: T) throws { try level.transaction.delete(object) }
            try delete(object)
        }
        level.state.delete(key)
        level.didChange()
    }

    private func change(
        _ number: Int, _ relationship: GraphRelationship, _ change: GraphChange, _ targets: [Int], isInPlace: Bool, _ level: GraphLevel
    ) throws {
        guard let owner = keys[number], let kind = level.state.kind(owner), relationship.owners.contains(kind),
            let object = try level.object(owner, ids)
        else { return }
        var found: [(GraphKey, any Model)] = []
        for number in targets {
            guard let key = keys[number], let kind = level.state.kind(key), relationship.targets.contains(kind),
                let target = try level.object(key, ids)
            else { continue }
            found.append((key, target))
        }
        let isLive = level.state.objects[owner] != nil
        // A deleted object has no members that could be changed, and a refused change is corrected by an assignment.
        let isRefused = level.state.refusals.contains { $0.end == GraphState.End(owner: owner, relationship: relationship) }
        let change = isLive ? change : .assign
        try relationship.accept(
            GraphRelationshipWriter(object: object, change: change, targets: found.map(\.1), isInPlace: isInPlace && isLive && !isRefused))
        level.state.change(owner, relationship, change, found.map(\.0))
        level.didChange()
    }

    // MARK: Steps

    private func step(_ operation: GraphOperation, _ level: GraphLevel) throws {
        guard level.kind == .undoable, let transaction = level.unsafe else { return }
        if operation == .flush || operation == .undo && level.isStepOpen { try endStep(level, transaction) }
        switch operation {
        case .undo:
            guard let saved = level.undoable.popLast() else { return }
            guard transaction.canUndo else { throw GraphMismatch("a step cannot be undone") }
            try transaction.undo()
            level.redoable.append(level.state)
            level.state.restore(saved, base: level.base)
        case .redo:
            guard !level.isStepOpen, let saved = level.redoable.popLast() else { return }
            guard transaction.canRedo else { throw GraphMismatch("a step cannot be done again") }
            try transaction.redo()
            level.undoable.append(level.state)
            level.state.restore(saved, base: level.base)
        default: break
        }
        if transaction.canUndo == level.undoable.isEmpty { throw GraphMismatch("canUndo is \(transaction.canUndo)") }
        if transaction.canRedo == level.redoable.isEmpty { throw GraphMismatch("canRedo is \(transaction.canRedo)") }
        level.stepStart = level.state
        level.updateOriginals()
    }

    /// Ends a step, with a change of its own, so that there is one.
    private func endStep(_ level: GraphLevel, _ transaction: UnsafeTransaction) throws {
        guard let marker, let object = try level.object(marker, ids) else { return }
        let number = GraphKind.number(object, 1) + 1
        GraphKind.setNumber(object, 1, number)
        level.state.setNumber(marker, 1, number)
        transaction.flush()
        level.undoable.append(level.stepStart)
        (level.redoable, level.stepStart, level.isStepOpen) = ([], level.state, false)
        level.updateOriginals()
    }

    // MARK: Other transactions

    /// Changes objects in a transaction of its own, while an unqueued transaction is open.
    private func applyElsewhere(_ operation: GraphOperation, _ level: GraphLevel) throws {
        guard levels.count == 1, level.unsafe != nil else { return }
        // Opens the snapshot, if there has been no access since it was released.
        _ = try level.transaction.fetchCount(From<MusicTag>("A"))
        switch operation {
        case .otherSet(let number, let attribute, let value):
            guard let key = keys[number], let kind = committed.kind(key), attribute < kind.attributeCount, let id = ids[key],
                level.state.deleted[key] == nil
            else { return }
            try stack.performAndWait { transaction throws in
                guard let object = try id.fetchExisting(transaction) else {
                    throw GraphMismatch("\(key) is not found in another transaction")
                }
                GraphKind.setNumber(object, attribute, value)
            }
            committed.setNumber(key, attribute, value)
        case .otherCreate(let number, let kind, let store):
            // Projects need an owner.
            guard keys[number] == nil, kind != .project else { return }
            let key = try stack.performAndWait { transaction throws in GraphKey(try create(transaction, number, kind, store)) }
            guard let key else { return }
            keys[number] = key
            committed.create(key, kind, Array(repeating: 0, count: kind.attributeCount))
        case .otherDelete(let number):
            guard let key = keys[number], key != marker, level.kind == .unsafe, let kind = committed.kind(key), let id = ids[key],
                level.state.edits[key] == nil, level.state.deleted[key] == nil
            else { return }
            // Only objects without relationships, whose deletion changes no other.
            for state in [committed, level.state] {
                for relationship in GraphRelationship.of(kind) where !state.members(key, relationship).isEmpty { return }
                for (_, targets) in state.links where targets.contains(key) { return }
            }
            try stack.performAndWait { try id.delete($0) }
            committed.delete(key)
        default: return
        }
        didCommitElsewhere()
    }

    // MARK: Objects of the past

    /// Returns the number's key if an earlier commit has deleted the object.
    private func gone(_ number: Int, _ state: GraphState) -> GraphKey? {
        guard let key = keys[number], known.contains(key), committed.objects[key] == nil, state.kind(key) == nil else { return nil }
        return key
    }

    /// Expects that a child cannot commit a relationship of or to an object that is gone.
    private func relateGone(_ owner: Int, _ relationship: GraphRelationship, _ target: Int, _ level: GraphLevel) throws {
        guard let keys = try usable(owner, relationship, target, level.state), !levels[0].isCommitted else { return }
        let child = level.transaction.beginUnsafe()
        try expectRefusal([.constraint, .notFound, .conflict]) {
            try relate(child, keys.owner, relationship, keys.target)
            try child.commit()
        }
    }

    /// Expects the same of a queued transaction.
    func relateGoneAlone(_ owner: Int, _ relationship: GraphRelationship, _ target: Int) throws {
        guard let keys = try usable(owner, relationship, target, committed) else { return }
        try expectRefusal([.constraint, .notFound]) {
            try stack.performAndWait { try relate($0, keys.owner, relationship, keys.target) }
        }
        try check()
    }

    private func usable(
        _ owner: Int, _ relationship: GraphRelationship, _ target: Int, _ state: GraphState
    ) throws -> (owner: GraphKey, target: GraphKey)? {
        guard let ownerKey = gone(owner, state) ?? keys[owner].flatMap({ state.objects[$0] == nil ? nil : $0 }),
            let targetKey = gone(target, state) ?? keys[target].flatMap({ state.objects[$0] == nil ? nil : $0 }),
            ownerKey.store == targetKey.store, gone(owner, state) != nil || gone(target, state) != nil,
            relationship.owners[0].family == ownerKey.family, relationship.targets[0].family == targetKey.family
        else { return nil }
        // The relationships of workers are not those of humans.
        return relationship.owners == [.worker] || relationship.targets == [.worker] ? nil : (ownerKey, targetKey)
    }

    private func relate(_ transaction: Transaction, _ owner: GraphKey, _ relationship: GraphRelationship, _ target: GraphKey) throws {
        guard let owner = try ids[owner]?.object(transaction), let target = try ids[target]?.object(transaction) else { return }
        try relationship.accept(GraphRelationshipWriter(object: owner, change: .assign, targets: [target], isInPlace: false))
    }

    private func expectRefusal(_ codes: [StoreError.Code], _ body: () throws -> Void) throws {
        do { try body() } catch let error as StoreError where codes.contains(error.code) { return }
        throw GraphMismatch("a relationship of an object that is gone was committed")
    }
}
