import BrowserData
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
        // A browser runs nothing of the value, also if it takes it for a document.
        headers[.contentSecurityPolicy] = "default-src 'none'; sandbox; frame-ancestors 'none'"
        if let image = value.imageType {
            headers[.contentType] = image
        } else if case .data? = value.value {
            headers[.contentType] = "application/octet-stream"
            headers[.contentDisposition] = "attachment; filename=\"value.bin\""
        } else {
            headers[.contentType] = "text/plain; charset=utf-8"
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: value.data)))
    }
}
