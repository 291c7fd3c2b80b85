import BrowserDrawing
import HTTPTypes
import Hummingbird

/// The answer to the address that contains the token.
enum EntrancePage {
    /// Returns an answer that gives the browser a cookie and leads to an address without the token, so that the token is not shown any longer.
    static func response(_ request: Request, to address: String, token: AccessToken, port: Int) -> Response {
        let cookie = RequestGuard.cookie(token, port: port)
        let site = request.headers[RequestGuard.fetchSite]
        if site == nil || site == "none" || site == "same-origin" {
            return Response(status: .seeOther, headers: [.location: address, .setCookie: cookie])
        }
        // After a link of another site, such as a terminal in a page, a browser does not send the cookie to the target of a redirection.
        let target = MarkupText(address)
        let text =
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=\(target)\">"
            + "<title>PolyStore</title></head><body><p><a href=\"\(target)\">Open the store</a></p></body></html>\n"
        var response = Page.response(text)
        response.headers[.setCookie] = cookie
        return response
    }
}
