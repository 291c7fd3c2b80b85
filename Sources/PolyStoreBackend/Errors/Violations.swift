/// The violations found by validation, thrown as one error.
package struct Violations {
    private var found: [Violation] = []
    /// Returns whether the transaction has created an object. The caller knows no id of such an object, so messages do not name it.
    private let isNew: (_ entity: String, _ rowID: Int64) -> Bool

    package init(isNew: @escaping (_ entity: String, _ rowID: Int64) -> Bool) { self.isNew = isNew }

    /// Adds a violation.
    /// - Parameters:
    ///   - attribute: nil if the violation concerns the whole object.
    ///   - what: the predicate of a sentence whose subject is the attribute.
    package mutating func add(_ entity: String, _ attribute: String?, _ rowID: Int64, _ what: String, _ rule: Violation.Rule) {
        let isNew = isNew(entity, rowID)
        let subject =
            attribute.map { "\(entity).\($0) of \(isNew ? "a new object" : "object \(rowID)")" }
            ?? (isNew ? "A new \(entity)" : "\(entity) \(rowID)")
        found.append(Violation(entity: entity, attribute: attribute, rowID: rowID, rule: rule, message: "\(subject) \(what)"))
    }

    package mutating func add(_ violations: [Violation]) { found += violations }

    package func throwIfAny() throws { if let error { throw error } }

    /// The error; nil without a violation.
    package var error: StoreError? {
        guard let first = found.first else { return nil }
        let message =
            found.prefix(20).map(\.message).joined(separator: "; ") + (found.count > 20 ? "; and \(found.count - 20) more" : "") + "."
        var error = StoreError(.constraint, message, entity: first.entity, attribute: first.attribute, rowID: first.rowID)
        error.violations = found
        return error
    }
}
