import BrowserData
import Foundation
import HTTPTypes
import Hummingbird

/// The whole value of a property: an image, a text, or bytes to save.
enum ValueFile {
    static let route = Route.data { request in
        let object = try request.object()
        let property = try request.required("property")
        guard let value = try await request.site.store.wholeValue(of: object, property: property) else {
            throw BrowserError(404, "\(object.entity) \(object.rowID) does not exist.")
        }
        var headers: HTTPFields = [:]
        // A browser runs no script of the value, even if it treats the value as a document.
        headers[.contentSecurityPolicy] = "default-src 'none'; sandbox; frame-ancestors 'none'"
        if let image = value.imageType {
            headers[.contentType] = image
        } else if case .data? = value.value {
            headers[.contentType] = "application/octet-stream"
            headers[.contentDisposition] = "attachment; filename=\"value.bin\""
        } else {
            headers[.contentType] = "text/plain; charset=utf-8"
        }
        return Response(status: .ok, headers: headers, body: body(value.data))
    }

    /// The number of bytes that are written at a time.
    private static let slice = 64 << 10

    /// Returns a body that is written in slices. Each slice waits until the browser has received those before it.
    private static func body(_ data: Data) -> ResponseBody {
        ResponseBody(contentLength: data.count) { writer in
            var rest = data[...]
            while !rest.isEmpty {
                try await writer.write(ByteBuffer(bytes: rest.prefix(slice)))
                rest = rest.dropFirst(slice)
            }
            try await writer.finish(nil)
        }
    }
}
