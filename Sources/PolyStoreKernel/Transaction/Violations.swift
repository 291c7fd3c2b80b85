import PolyStoreBackend

// The caller knows no row id of an object that the transaction has created.
extension Model {
    /// The object in words, for errors: `object 7`, `a new object`.
    package var inWords: String { isInserted ? "a new object" : "object \(_$state.rowID)" }

    /// Returns the object with the name of its entity or class in words, for errors: `Person 7`, `a new Person`.
    func inWords(as name: String) -> String { isInserted ? "a new \(name)" : "\(name) \(_$state.rowID)" }
}

/// The violations found by validation, thrown as one error.
struct Violations {
    private var found: [Violation] = []
    /// Returns whether the transaction has created an object. The caller knows no id of such an object, so messages do not name it.
    private let isNew: (_ entity: String, _ rowID: Int64) -> Bool

    init(isNew: @escaping (_ entity: String, _ rowID: Int64) -> Bool) { self.isNew = isNew }

    /// Adds a violation.
    /// - Parameters:
    ///   - attribute: nil if the violation concerns the whole object.
    ///   - what: the predicate of a sentence whose subject is the attribute.
    mutating func add(_ entity: String, _ attribute: String?, _ rowID: Int64, _ what: String, _ rule: Violation.Rule) {
        let isNew = isNew(entity, rowID)
        let subject =
            attribute.map { "\(entity).\($0) of \(isNew ? "a new object" : "object \(rowID)")" }
            ?? (isNew ? "A new \(entity)" : "\(entity) \(rowID)")
        found.append(Violation(entity: entity, attribute: attribute, rowID: rowID, rule: rule, message: "\(subject) \(what)"))
    }

    mutating func add(_ violations: [Violation]) { found += violations }

    func throwIfAny() throws {
        guard let first = found.first else { return }
        let message =
            found.prefix(20).map(\.message).joined(separator: "; ") + (found.count > 20 ? "; and \(found.count - 20) more" : "") + "."
        var error = StoreError(.constraint, message, entity: first.entity, attribute: first.attribute, rowID: first.rowID)
        error.violations = found
        throw error
    }
}
