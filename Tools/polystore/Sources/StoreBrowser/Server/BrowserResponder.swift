import HTTPTypes
import Hummingbird

/// Answers requests: checks them, finds the page, and gives every answer the headers of safety.
struct BrowserResponder: HTTPResponder {
    typealias Context = BrowserContext

    let site: Site

    func respond(to request: Request, context: BrowserContext) async throws -> Response {
        var response: Response
        do {
            response = try await answer(request, port: context.port)
        } catch {
            response = ErrorPage.response(to: error, site)
            // The rest of a body that was not read would be taken for the next request.
            response.headers[.connection] = "close"
        }
        Self.addSafety(to: &response)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(_ request: Request, port: Int) async throws -> Response {
        // Nothing of the store is shown before the guard has decided, also not in the answer to an address that cannot be decoded.
        let decoded = Result { try QueryItems(decoding: request.uri.query ?? "") }
        let path = request.uri.path
        let route = Routes.all[path]
        let hosts = HostPolicy(host: site.options.host, listensEverywhere: site.listening.isEverywhere)
        let guardian = RequestGuard(token: site.options.token, hosts: hosts, permitsWriting: site.store.isWritable)
        switch guardian.decision(request.head, (try? decoded.get()) ?? QueryItems(), port: port, isPage: route?.isPage ?? false) {
        case .refuse(let status, let message):
            var refusal = ErrorPage.text(message, status)
            refusal.headers[.connection] = "close"
            return refusal
        case .enter(let rest): return EntrancePage.response(request, to: rest.address(path), token: site.options.token, port: port)
        case .answer: break
        }
        let query = try decoded.get()
        guard let route else { throw BrowserError.unknownPage }
        let browserRequest = BrowserRequest(site: site, path: path, query: query, request: request)
        switch (request.method, route.change) {
        case (.post, .none): throw BrowserError(405, "This page cannot be sent a form.")
        case (.post, .some(let change)):
            return try await browserRequest.answering { request in
                guard let token = request.form["form-token"], site.formToken.matches(token) else {
                    throw BrowserError(
                        403, "The form is not of this server, which was started again. Open the page again and repeat the change.")
                }
                return try await change(request)
            }
        default: return try await route.answer(browserRequest)
        }
    }

    /// Adds the headers that limit what a browser does with an answer, unless the answer has stricter ones.
    static func addSafety(to response: inout Response) {
        if response.headers[.contentSecurityPolicy] == nil { response.headers[.contentSecurityPolicy] = policy }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.cacheControl] = "no-store"
        // Not "no-referrer", with which browsers send forms without their origin.
        response.headers[HTTPField.Name("Referrer-Policy")!] = "same-origin"  // A constant that is a valid name.
        response.headers[HTTPField.Name("X-Frame-Options")!] = "DENY"  // A constant that is a valid name.
        response.headers[HTTPField.Name("Cross-Origin-Opener-Policy")!] = "same-origin"  // A constant that is a valid name.
        response.headers[HTTPField.Name("Cross-Origin-Resource-Policy")!] = "same-origin"  // A constant that is a valid name.
    }

    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'", "form-action 'self'",
        "frame-ancestors 'none'", "base-uri 'none'",
    ].joined(separator: "; ")
}
