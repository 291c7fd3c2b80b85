import PolyStoreBackend
import PolyStoreCore

extension BrowserStore {
    /// Counts the values of a property among the objects of a request; its position, order and columns do not matter.
    ///
    /// If an index has the property and the request has no condition, one facet comes, in the time that the index takes. Otherwise the objects are read, and several facets come, each with
    /// more of them counted; the last one is complete. Ending the iteration or cancelling the task ends the reading.
    /// - Parameters:
    ///   - property: The name of an attribute, which is neither bytes nor JSON, or of a to-one relationship.
    ///   - size: The greatest number of values.
    ///   - timeLimit: The time after which the facet ends with `timedOut`.
    /// - Returns: Facets of growing numbers of objects. It throws ``FilterMistake``, `misuse` for another property, and the errors of the store.
    package func facets(
        of property: String, _ request: RowsRequest, size: Int = 20, timeLimit: Duration? = BrowserStore.defaultTimeLimit
    ) -> AsyncThrowingStream<Facet, any Error> {
        // The newest facet has all that the ones before had.
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                do {
                    let reader = try FacetReader(property, request, size, self)
                    try await self.mistakes(request.filter, of: request.entity) {
                        try await self.reading(timeLimit: timeLimit) { context in try reader.read(context) { continuation.yield($0) } }
                    }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Counts the values of a property by its index, without reading the objects.
    /// - Returns: nil if only ``facets(of:_:size:timeLimit:)`` can count: without an index, of a part of the objects, or if there are too many different values.
    /// - Throws: As ``facets(of:_:size:timeLimit:)``.
    package func indexedFacet(
        of property: String, _ request: RowsRequest, size: Int = 20, timeLimit: Duration? = BrowserStore.defaultTimeLimit
    ) async throws -> Facet? {
        let reader = try FacetReader(property, request, size, self)
        return try await mistakes(request.filter, of: request.entity) {
            try await reading(timeLimit: timeLimit) { try reader.indexed($0) }
        }
    }
}
