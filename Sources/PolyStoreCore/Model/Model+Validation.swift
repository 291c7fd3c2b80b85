import PolyStoreBackend

/// What ``Model/validate()`` and ``Model/validateForDelete()`` throw: becomes a violation, with those of all other objects, of the one error that the commit
/// ends with. Any other error does too, with its description.
public struct ValidationError: Error, Sendable, Hashable {
    /// One thing that is wrong.
    struct Failure: Sendable, Hashable {
        let attribute: String?
        let message: String
    }

    private(set) var failures: [Failure]

    /// - Parameters:
    ///   - message: the end of a sentence that begins with the attribute, or with the object: "is after the end".
    ///   - attribute: its stored name; nil where the object as a whole is to blame.
    public init(_ message: String, attribute: String? = nil) { failures = [Failure(attribute: attribute, message: message)] }

    /// Several in one.
    public init(_ errors: [ValidationError]) { failures = errors.flatMap(\.failures) }
}

extension Model {
    /// Nothing is asked of an object.
    public func validate() throws {}
    /// Nothing is asked of an object that is deleted.
    public func validateForDelete() throws {}
}

extension Transaction {
    /// The rules of attributes, and what the models themselves ask of their objects.
    func checkObjects(_ entry: StoreEntity, _ own: Pending, _ violations: inout Violations) throws {
        if entry.hasRules { try checkRules(entry, own, &violations) }
        for object in own.inserted where !object.isDeleted {
            do { try object.validate() } catch { add(error, of: object, entry, &violations) }
        }
        for object in own.updated where !object.isDeleted {
            do { try object.validate() } catch { add(error, of: object, entry, &violations) }
        }
        for object in own.deleted {
            do { try object.validateForDelete() } catch { add(error, of: object, entry, &violations) }
        }
    }

    /// Of new objects all attributes, of others those that were changed: what was stored before a rule was made does not stand in the way of
    /// other changes.
    private func checkRules(_ entry: StoreEntity, _ own: Pending, _ violations: inout Violations) throws {
        let evaluator = try RuleEvaluator(entry.entity)
        let arena = RecordArena()
        func check(_ object: any Model, _ mask: FieldMask) throws {
            guard !mask.isDisjoint(with: evaluator.fields) else { return }
            arena.removeAll()
            try describing(entry, object) {
                let key = object._$state.key
                for finding in try evaluator.findings(key, arena.encode(object, entry), mask) {
                    violations.add(entry.entity.name, finding.field.name, key, finding.message, finding.rule)
                }
            }
        }
        for object in own.inserted where !object.isDeleted { try check(object, evaluator.fields) }
        for object in own.updated where !object.isDeleted { try check(object, object._$state.edit?.mask ?? FieldMask()) }
    }

    /// What a model threw becomes a violation.
    private func add(_ error: any Error, of object: any Model, _ entry: StoreEntity, _ violations: inout Violations) {
        let (name, key) = (entry.entity.name, object._$state.key)
        switch error {
        case let error as ValidationError:
            for failure in error.failures { violations.add(name, failure.attribute, key, failure.message, .custom) }
        case let error as StoreError where !error.violations.isEmpty: violations.add(error.violations)
        case let error as StoreError: violations.add(name, error.attribute, key, "is refused: \(error.message)", .custom)
        default: violations.add(name, nil, key, "is refused: \(error)", .custom)
        }
    }
}
