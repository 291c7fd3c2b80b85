import BrowserDrawing

/// The files that the pages refer to.
enum AssetFiles {
    static let styleSheet = Route.file(
        { String(decoding: PackageResources.browser_css, as: UTF8.self) + DrawingStyle.css }, "text/css; charset=utf-8")
    static let script = Route.file({ String(decoding: PackageResources.browser_js, as: UTF8.self) }, "text/javascript; charset=utf-8")
    static let icon = Route.file({ String(decoding: PackageResources.icon_svg, as: UTF8.self) }, "image/svg+xml")
}
