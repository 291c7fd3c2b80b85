import BrowserDrawing
import Hummingbird

/// The files that the pages refer to.
enum AssetFiles {
    static let styleSheet = Route(isPage: false) { _ in
        file(String(decoding: PackageResources.browser_css, as: UTF8.self) + DrawingStyle.css, "text/css; charset=utf-8")
    }
    static let script = Route(isPage: false) { _ in
        file(String(decoding: PackageResources.browser_js, as: UTF8.self), "text/javascript; charset=utf-8")
    }
    static let icon = Route(isPage: false) { _ in file(String(decoding: PackageResources.icon_svg, as: UTF8.self), "image/svg+xml") }

    private static func file(_ text: String, _ type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
