import PolyStoreBackend

/// The error that a commit is expected to throw.
struct GraphFailure: Equatable, CustomStringConvertible {
    let code: StoreError.Code
    /// The broken rules: property, row id and rule.
    let violations: [String]

    init(code: StoreError.Code, violations: [String]) {
        self.code = code
        self.violations = violations
    }

    init(_ error: StoreError) {
        code = error.code
        violations = error.violations.map { "\($0.attribute ?? "") \($0.rowID) \($0.rule)" }.sorted()
    }

    var description: String { "\(code) \(violations)" }
}
