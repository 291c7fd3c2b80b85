import Hummingbird
import PolyStoreFormats

/// Answers that are data instead of a page.
enum DataResponse {
    static func json(_ value: JSONValue) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: "\(value)\n")))
    }
}
