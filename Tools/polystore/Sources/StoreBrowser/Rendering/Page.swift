import HTTPTypes
import Hummingbird

/// A page: the template of its content, the values of it, and what the frame around it shows.
struct Page {
    /// The name of the template, which is also the name of the page for its script.
    let template: String
    /// The title of the window, and the heading of the page.
    var title: String
    var view: View = [:]
    var status = HTTPResponse.Status.ok
    /// The entity whose rows and groups the frame leads to; nil if there is none.
    var entity: String?
    /// The forms of the view besides the page.
    var formats: Set<String> = []
    /// The address of the events of changes; nil if the page does not follow them.
    var liveAddress: String?

    /// Returns the page within the frame that all pages share.
    func response(_ request: BrowserRequest) -> Response {
        var frame = Self.frame(request.site, title: title, template: template)
        frame["live"] = liveAddress != nil
        frame["liveAddress"] = liveAddress ?? ""
        frame["entityName"] = entity
        if let entity {
            frame["rowsAddress"] = Addresses.rows(entity)
            frame["groupsAddress"] = Addresses.groups(entity)
        }
        frame["hasFormats"] = !formats.isEmpty
        frame["ownAddress"] = request.query.address(request.path)
        if formats.contains("json") { frame["jsonAddress"] = request.address(format: "json") }
        if formats.contains("csv") { frame["csvAddress"] = request.address(format: "csv") }
        frame["content"] = request.site.templates.render(template, view)
        return Self.response(request.site.templates.render("layout", frame), status: status)
    }

    /// Returns the values of the frame that do not depend on a request.
    static func frame(_ site: Site, title: String, template: String) -> View {
        var frame: View = ["title": title, "heading": title, "page": template, "storeName": site.store.name]
        frame["mode"] = site.store.isWritable ? "can be changed" : "read-only"
        for (name, flag) in [("entities", "isEntities"), ("rows", "isRows"), ("groups", "isGroups"), ("history", "isHistory")] {
            frame[flag] = template == name
        }
        return frame
    }

    /// Returns a text of HTML as an answer.
    static func response(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8"], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
