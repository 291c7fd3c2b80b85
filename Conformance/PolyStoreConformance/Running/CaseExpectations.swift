import PolyStoreBackend

/// The expectations of cases and their failures.
protocol CaseExpectations {
    var caseID: String { get }
}

extension CaseExpectations {
    func fail(_ message: String) -> ConformanceFailure { ConformanceFailure(caseID: caseID, message: message) }

    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws { if !condition { throw fail(message()) } }

    func expect<T: Equatable>(_ found: T, equals expected: T, _ what: @autoclosure () -> String = "") throws {
        guard found != expected else { return }
        throw ConformanceFailure(caseID: caseID, message: what(), expected: "\(expected)", found: "\(found)")
    }

    /// Expects a `StoreError` with a code.
    @discardableResult
    func expectError<T>(_ code: StoreError.Code, _ what: String = "", _ body: () throws -> T) throws -> StoreError {
        do {
            _ = try body()
        } catch let error as StoreError {
            if error.code == code { return error }
            throw ConformanceFailure(caseID: caseID, message: what, expected: "the error \(code)", found: "\(error)")
        }
        throw ConformanceFailure(caseID: caseID, message: what, expected: "the error \(code)", found: "no error")
    }
}
