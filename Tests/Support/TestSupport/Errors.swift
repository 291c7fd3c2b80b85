package import PolyStoreBackend
package import Testing

/// Expects a `StoreError` with a code, and returns it.
@discardableResult
package func expectError<T>(
    _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) -> StoreError? {
    do {
        _ = try body()
        Issue.record("expected \(code), but nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as StoreError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("expected \(code), got \(error)", sourceLocation: sourceLocation)
    }
    return nil
}

/// Returns the `StoreError` that a closure throws, or nil if it throws nothing. Fails the test if the closure throws another error.
package func failure(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) -> StoreError? {
    do {
        try body()
    } catch let error as StoreError {
        return error
    } catch {
        Issue.record("expected a StoreError, got \(error)", sourceLocation: sourceLocation)
    }
    return nil
}

/// Returns the `StoreError` that a closure throws. Fails the test if the closure throws nothing.
package func requireFailure(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) throws -> StoreError {
    let error = failure(sourceLocation: sourceLocation, body)
    return try #require(error, "Nothing was thrown.", sourceLocation: sourceLocation)
}
