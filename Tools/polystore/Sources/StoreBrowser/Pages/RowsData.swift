import BrowserData
import Hummingbird

/// Rows, objects and groups as JSON and CSV. Rows are written while they are read.
enum RowsData {
    static func rows(_ format: AnswerFormat) -> Route {
        Route.stream { request in
            var rows = try RowsRequest(request)
            rows.position = .first
            let all = try request.site.store.bytes(of: rows, as: format)
            // A mistake is answered with its status, which precedes the first byte.
            let bytes = try await Deadline.run(request.site.options.deadline) { try await all.started() }
            return StreamedResponse.bytes(request, contentType: format.mediaType) { write in
                for try await chunk in bytes { try await write(chunk) }
            }
        }
    }

    static func object(_ format: AnswerFormat) -> Route {
        Route.data { request in
            let object = try request.object()
            guard let bytes = try await request.site.store.bytes(of: object, as: format) else {
                throw BrowserError(404, "\(object.entity) \(object.rowID) does not exist.")
            }
            return DataResponse.bytes(bytes, format.mediaType)
        }
    }
}
