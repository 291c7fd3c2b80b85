import PolyStoreCore
import PolyStoreFormats

extension BrowserStore {
    /// Returns all groups of a request with exact values, whatever its size; the row id of a related object.
    /// - Throws: As ``groups(_:timeLimit:)``.
    package func groupBytes(
        of request: GroupsRequest, as format: AnswerFormat, timeLimit: Duration? = BrowserStore.defaultTimeLimit
    ) async throws -> [UInt8] {
        let (reader, plan) = try groupPlan(request)
        let titles = Self.distinct(plan.titles)
        return try await mistakes(request.filter, of: request.entity) {
            try await reading(timeLimit: timeLimit) { context in
                let sink = MemoryByteSink()
                let writer = try RecordWriter(to: sink, format: format.records, columns: titles)
                for row in try plan.readAll(reader, context) { try writer.write(JSONObject(zip(titles, plan.exact(row)))) }
                try writer.finish()
                return sink.bytes
            }
        }
    }
}
