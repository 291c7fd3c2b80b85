import HTTPTypes
import Hummingbird
import PolyStoreFormats

/// Answers that are data instead of a page.
enum DataResponse {
    static func json(_ value: JSONValue) -> Response { bytes(Array("\(value)\n".utf8), "application/json; charset=utf-8") }

    static func bytes(_ bytes: [UInt8], _ type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
