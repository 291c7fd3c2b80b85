import PolyStoreBackend

/// The parameters of libpq for a connection: the host, the user, the password and the options of the URL.
struct ServerAddress: Sendable, CustomStringConvertible, CustomReflectable {
    /// The options of a URL that are passed to libpq. Others would change how the store works.
    static let options: Set<String> = [
        "host", "application_name", "channel_binding", "gssencmode", "krbsrvname", "passfile", "requirepeer", "service", "sslcert",
        "sslcompression", "sslcrl",
        "sslkey", "sslmode", "sslpassword", "sslrootcert", "sslsni", "ssl_max_protocol_version", "ssl_min_protocol_version",
        "target_session_attrs", "tcp_user_timeout",
    ]

    let pairs: [(String, String)]

    /// The names of the values, which themselves can be secret.
    var description: String { "ServerAddress(\(pairs.map(\.0).joined(separator: ", ")))" }
    /// Contains no value, because those can be secret.
    var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }

    init(_ url: StoreURL) {
        var pairs: [(String, String)] = [
            ("fallback_application_name", "PolyStore"), ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            // Also ends a connection if the server does not acknowledge sent data.
            ("tcp_user_timeout", "60000"),
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

    /// A text that identifies the server, the database and the rights, without passwords.
    var key: String {
        let names: Set<String> = ["host", "port", "user", "dbname", "service", "target_session_attrs"]
        return pairs.filter { names.contains($0.0) }.map { "\($0.0)=\(SQLNames.literal($0.1))" }.sorted().joined(separator: " ")
    }

    private init(pairs: [(String, String)]) { self.pairs = pairs }

    /// The addresses that are tried one after the other: one for each host. libpq itself would spend the whole time on the first host that does not answer.
    var alternatives: [ServerAddress] {
        func values(_ name: String) -> [String] {
            pairs.last { $0.0 == name }?.1.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        }
        let (hosts, ports) = (values("host"), values("port"))
        guard hosts.count > 1, ports.count <= 1 || ports.count == hosts.count else { return [self] }
        let single = hosts.enumerated().map { index, host in
            var pairs = pairs.filter { $0.0 != "host" && $0.0 != "port" } + [("host", host)]
            if !ports.isEmpty { pairs.append(("port", ports.count == 1 ? ports[0] : ports[index])) }
            return pairs
        }
        guard values("target_session_attrs") == ["prefer-standby"] else { return single.map { ServerAddress(pairs: $0) } }
        // The standbys of all hosts come before the other servers.
        return ["standby", "any"].flatMap { kind in single.map { ServerAddress(pairs: $0 + [("target_session_attrs", kind)]) } }
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
