import BrowserDrawing

/// The files that the pages refer to.
enum AssetFiles {
    static let styleSheet = Route.file(PackageResources.browser_css + Array(DrawingStyle.css.utf8), "text/css; charset=utf-8")
    static let script = Route.file(PackageResources.browser_js, "text/javascript; charset=utf-8")
    static let icon = Route.file(PackageResources.icon_svg, "image/svg+xml")
}
