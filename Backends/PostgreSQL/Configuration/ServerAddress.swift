import PolyStoreBackend

/// What libpq needs for a connection: the host, the user, the password and the options of the URL.
struct ServerAddress: Sendable {
    /// The options of a URL that are passed to libpq. Others would change how the store works.
    static let options: Set<String> = [
        "host", "application_name", "channel_binding", "gssencmode", "krbsrvname", "passfile", "requirepeer", "service", "sslcert",
        "sslcompression", "sslcrl",
        "sslkey", "sslmode", "sslpassword", "sslrootcert", "sslsni", "ssl_max_protocol_version", "ssl_min_protocol_version",
        "target_session_attrs", "tcp_user_timeout",
    ]

    private let pairs: [(String, String)]

    init(_ url: StoreURL) {
        var pairs: [(String, String)] = [
            ("fallback_application_name", "PolyStore"), ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
        ]
        for (name, value) in url.options.sorted(by: { $0.key < $1.key }) where Self.options.contains(name) { pairs.append((name, value)) }
        let hosts = url.server?.hosts ?? []
        if hosts.contains(where: { !$0.name.isEmpty }) { pairs.append(("host", hosts.map(\.name).joined(separator: ","))) }
        if hosts.contains(where: { $0.port != nil }) {
            pairs.append(("port", hosts.map { $0.port.map(String.init) ?? "" }.joined(separator: ",")))
        }
        if let user = url.server?.user { pairs.append(("user", user)) }
        if let password = url.server?.password { pairs.append(("password", password.value)) }
        let database = url.server == nil && url.location.hasPrefix("/") ? String(url.location.dropFirst()) : url.location
        if !database.isEmpty { pairs.append(("dbname", database)) }
        // Last, so that they cannot be replaced.
        pairs.append(("client_encoding", "UTF8"))
        self.pairs = pairs
    }

    /// Calls a closure with the arrays of keywords and values that libpq expects.
    func withKeywords<Result>(
        connectTimeout: Duration,
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let all = pairs + [("connect_timeout", "\(max(2, (connectTimeout.inMilliseconds + 999) / 1000))")]
        let keywords = all.map { CString($0.0) }
        let values = all.map { CString($0.1) }
        return withExtendedLifetime((keywords, values)) {
            var first: [UnsafePointer<CChar>?] = keywords.map { UnsafePointer($0.pointer) }
            var second: [UnsafePointer<CChar>?] = values.map { UnsafePointer($0.pointer) }
            first.append(nil)
            second.append(nil)
            return body(first, second)
        }
    }
}

/// A text that ends with NUL, at a stable address.
private final class CString {
    let pointer: UnsafeMutablePointer<CChar>

    init(_ text: String) {
        let bytes = text.utf8CString
        pointer = .allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { (pointer + index).initialize(to: byte) }
    }

    deinit { pointer.deallocate() }
}
