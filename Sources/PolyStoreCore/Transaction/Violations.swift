import PolyStoreBackend

/// The violations found by validation, thrown as one error.
struct Violations {
    private var found: [Violation] = []

    /// Adds a violation.
    /// - Parameters:
    ///   - attribute: nil if the violation concerns the whole object.
    ///   - what: the predicate of a sentence whose subject is the attribute.
    mutating func add(_ entity: String, _ attribute: String?, _ rowID: Int64, _ what: String, _ rule: Violation.Rule) {
        let subject = attribute.map { "\(entity).\($0) of object \(rowID)" } ?? "\(entity) \(rowID)"
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
