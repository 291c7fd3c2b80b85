import HTTPTypes
import Hummingbird

/// Decides which requests are answered at all.
struct RequestGuard: Sendable {
    /// The decision about a request.
    enum Decision: Equatable {
        case answer
        /// The request has the token in its address. The answer sets the cookie and leads to the address without the token.
        case enter(QueryItems)
        /// The request is refused with a status and a sentence.
        case refuse(Int, String)
    }

    let token: AccessToken
    let hosts: HostPolicy
    /// Whether the store was opened for writing.
    let permitsWriting: Bool

    /// - Parameters:
    ///   - port: The port of the connection.
    ///   - isPage: Whether the answer is a page, rather than a file or data.
    func decision(_ head: HTTPRequest, _ query: QueryItems, port: Int, isPage: Bool) -> Decision {
        guard let host = head.authority, hosts.permits(host, port: port) else {
            return .refuse(421, "This server answers under its own address only. Open the address that polystore browse printed.")
        }
        if let origin = head.headerFields[.origin], origin.lowercased() != "http://\(host.lowercased())" { return Self.otherSite }
        let site = head.headerFields[Self.fetchSite]
        guard head.method == .get || head.method == .head || head.method == .post else {
            return .refuse(405, "The browser answers GET, HEAD and POST only.")
        }
        let isEntering = isPage && head.method != .post && query["token"].map(token.matches) == true
        if let site, site != "same-origin", site != "none", !(isEntering && head.headerFields[Self.fetchMode] == "navigate") {
            return Self.otherSite
        }
        if head.method == .post { return writing(head) }
        if isEntering { return .enter(query.with([("token", nil)])) }
        return knowsToken(head, query, port) ? .answer : Self.noToken
    }

    /// A change needs the permission to write, and the cookie, which a browser does not send from another site.
    private func writing(_ head: HTTPRequest) -> Decision {
        guard permitsWriting else {
            return .refuse(403, "The store was opened read-only. Start polystore browse with --write to change it.")
        }
        return cookieMatches(head) ? .answer : Self.noToken
    }

    private func knowsToken(_ head: HTTPRequest, _ query: QueryItems, _ port: Int) -> Bool {
        if query["token"].map(token.matches) == true || cookieMatches(head) { return true }
        guard let authorization = head.headerFields[.authorization], authorization.hasPrefix("Bearer ") else { return false }
        return token.matches(authorization.dropFirst("Bearer ".count))
    }

    /// Returns whether a cookie has the token. Browsers do not separate cookies by ports, so each server sets one of its own name.
    private func cookieMatches(_ head: HTTPRequest) -> Bool {
        head.headerFields[values: .cookie].contains { header in
            header.split(separator: ";").contains { part in
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return pair.count == 2 && pair[0].drop { $0 == " " }.hasPrefix(Self.cookiePrefix) && token.matches(pair[1])
            }
        }
    }

    /// Returns the value of the header that gives the browser the token.
    static func cookie(_ token: AccessToken, port: Int) -> String {
        "\(cookiePrefix)\(port)=\(token); Path=/; HttpOnly; SameSite=Strict"
    }

    private static let cookiePrefix = "polystore-"
    static let fetchSite = HTTPField.Name("Sec-Fetch-Site")!  // A constant that is a valid name.
    static let fetchMode = HTTPField.Name("Sec-Fetch-Mode")!  // A constant that is a valid name.
    private static let otherSite = Decision.refuse(
        403, "Requests from other sites are refused. Open the address that polystore browse printed.")
    private static let noToken = Decision.refuse(
        403, "The token is missing or belongs to a server that has ended. Open the address that polystore browse printed.")
}
