import PolyStoreBackend
import PolyStoreQuery

extension Model {
    /// Accepts every object.
    public func validate() throws {}
    /// Accepts the deletion of every object.
    public func validateForDelete() throws {}
}

extension Transaction {
    /// Checks the rules of attributes and the validation methods of the models.
    func checkObjects(
        _ entry: StoreEntity, _ entityChanges: ChangeBuffer.EntityChanges, _ run: ValidationRun, _ violations: inout Violations
    ) throws {
        if entry.hasRules { try checkRules(entry, entityChanges, &violations) }
        for object in entityChanges.inserted where !object.isDeleted {
            do { try run.run(.validate, of: object) } catch { add(error, of: object, entry, &violations) }
        }
        for object in entityChanges.updated where !object.isDeleted {
            do { try run.run(.validate, of: object) } catch { add(error, of: object, entry, &violations) }
        }
        for object in entityChanges.deleted {
            do { try run.run(.validateForDelete, of: object) } catch { add(error, of: object, entry, &violations) }
        }
    }

    /// Checks all attributes of new objects and the changed attributes of others, so that a value stored before a rule was added does not prevent
    /// other changes.
    private func checkRules(_ entry: StoreEntity, _ entityChanges: ChangeBuffer.EntityChanges, _ violations: inout Violations) throws {
        let evaluator = try RuleEvaluator(entry.entity)
        let arena = RecordArena()
        func check(_ object: any Model, _ mask: FieldMask) throws {
            guard !mask.isDisjoint(with: evaluator.fields) else { return }
            arena.removeAll()
            try describing(entry, object) {
                let rowID = object._$state.rowID
                for finding in try evaluator.findings(rowID, arena.encode(object, entry), mask) {
                    violations.add(entry.entity.name, finding.field.name, rowID, finding.message, finding.rule)
                }
            }
        }
        for object in entityChanges.inserted where !object.isDeleted { try check(object, evaluator.fields) }
        for object in entityChanges.updated where !object.isDeleted { try check(object, object._$state.edit?.mask ?? FieldMask()) }
    }

    /// Adds an error of a model as a violation.
    private func add(_ error: any Error, of object: any Model, _ entry: StoreEntity, _ violations: inout Violations) {
        let (name, key) = (entry.entity.name, object._$state.rowID)
        switch error {
        case let error as ValidationError:
            for failure in error.failures { violations.add(name, failure.attribute, key, failure.message, .custom) }
        case let error as StoreError where !error.violations.isEmpty: violations.add(error.violations)
        case let error as StoreError: violations.add(name, error.attribute, key, "is refused: \(error.message)", .custom)
        default: violations.add(name, nil, key, "is refused: \(error)", .custom)
        }
    }
}

/// An error for ``Model/validate()`` and ``Model/validateForDelete()`` to throw. It becomes a violation in the error of the commit, together with those of all
/// other objects. Other errors become violations too, with their descriptions.
public struct ValidationError: Error, Sendable, Hashable {
    /// One failure of a validation.
    public struct Failure: Sendable, Hashable, CustomStringConvertible {
        /// The stored name of the attribute; `nil` if the failure concerns the whole object.
        public let attribute: String?
        /// The end of a sentence that begins with the attribute or the object: "is after the end".
        public let message: String

        /// The failure as a sentence without a period: `isLocked is locked`, or `The object is incomplete`.
        public var description: String { "\(attribute ?? "The object") \(message)" }
    }

    /// The failures, in the order in which they were found.
    public let failures: [Failure]

    /// Creates an error.
    /// - Parameters:
    ///   - message: The end of a sentence that begins with the attribute or the object: "is after the end".
    ///   - attribute: The stored name of the attribute; `nil` if the error concerns the whole object.
    public init(_ message: String, attribute: String? = nil) { failures = [Failure(attribute: attribute, message: message)] }

    /// Combines several errors.
    public init(_ errors: [ValidationError]) { failures = errors.flatMap(\.failures) }
}

extension ValidationError: CustomStringConvertible {
    /// All failures, separated by semicolons.
    public var description: String { failures.map(\.description).joined(separator: "; ") }
}
