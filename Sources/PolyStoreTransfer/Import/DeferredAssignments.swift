import PolyStoreBackend
import PolyStoreKernel

/// Assignments of relationships that need the rows of other records, which may follow in the same import call.
final class DeferredAssignments: ReferenceResolver {
    private struct Assignment {
        let number: Int
        let holder: ReferenceHolder
        let target: String
        let assign: () throws -> Int64?
    }

    /// The assignments, by relationship of an object; a later one replaces an earlier one.
    private var waiting: [ReferenceHolder.Replaced: Assignment] = [:]
    private var missing: [UnresolvedReference] = []

    /// No object has unique ids here.
    var entityIndex: Int32 { -1 }

    /// - Parameter assign: Assigns the targets. Returns a row id that no record has; `nil` if there is none.
    func add(_ holder: ReferenceHolder, target: String, _ assign: @escaping () throws -> Int64?) {
        guard let replaced = holder.replaced else { return }
        waiting[replaced] = Assignment(number: holder.number, holder: holder, target: target, assign: assign)
    }

    func remove(_ holder: ReferenceHolder) { if let replaced = holder.replaced { waiting[replaced] = nil } }

    func resolve(isFinal: Bool) throws -> Bool {
        guard !waiting.isEmpty else { return false }
        let taken = waiting.values.sorted { $0.number < $1.number }
        waiting = [:]
        for assignment in taken {
            guard let rowID = try assignment.assign() else { continue }
            missing.append(
                UnresolvedReference(
                    entity: assignment.target, key: ImportKey([.integer(rowID)]), holder: assignment.holder,
                    problem: "is the row id of no single record before it or in its transaction"))
        }
        return true
    }

    func endReferences() -> [UnresolvedReference] {
        defer { missing = [] }
        return missing
    }

    func willEdit(_ object: any Model) {}
    func checkChangedIDs() {}
    func forgetUncheckedIDs() {}
    func forgetCalls() {}
}

extension Transaction {
    /// Assigns the targets of a relationship when the records of the import call have been imported. Replaces an assignment that still waits.
    /// - Parameters:
    ///   - target: The name of the entity of the targets.
    ///   - assign: Assigns the targets. Returns a row id that no record has, with which the commit fails; `nil` if there is none.
    package final func assignAfterRecords(
        to relationship: Relationship, on object: any Model, target: String, _ assign: @escaping () throws -> Int64?
    ) { importing.deferred.add(holder(relationship, object), target: target, assign) }

    /// Removes an assignment that waits for other records.
    package final func removeDeferredAssignment(to relationship: Relationship, on object: any Model) {
        importing.deferred.remove(holder(relationship, object))
    }

    private func holder(_ relationship: Relationship, _ object: any Model) -> ReferenceHolder {
        ReferenceHolder(object, .name(relationship.name), replacing: importing.nextAssignment(), isToMany: relationship.isToMany)
    }
}
