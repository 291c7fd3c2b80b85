/// A store described in one line of text, for configuration files and command lines: `engine:location?option=value&option=value`.
///
///     sqlite:company.sqlite
///     lmdb:/var/lib/company.lmdb?mapSize=256g&durability=relaxed
///     memory:
///
/// In locations and values `%` begins an escape of two hexadecimal digits; a `?` in a path is written `%3F`. `engine:///path` is
/// equivalent to `engine:/path`.
///
/// The engine of a server accepts hosts, ports and users too:
///
///     postgresql://jane:secret@db.example.com:5432/company?sslmode=require
///     postgresql://jane@[::1],[::2]:5433/company
///
/// ``server`` contains them, and ``location`` is the part after the host: `company`. Escapes can be used in every part; `@`, `:`, `/`, `?` and `,` in a user or a
/// password must be escaped.
public struct StoreURL: Sendable, Hashable {
    /// The name of the engine.
    public let engine: String
    /// The location with escapes resolved; empty if there is none. In a URL with a server, the part between the `/` after the hosts and the options.
    public let location: String
    /// The hosts and the user; nil if the URL has no `//` or nothing before the next `/`.
    public let server: StoreServer?
    /// The options by name, with escapes resolved.
    public let options: [String: String]
    /// The original text. It can contain a password; messages use ``description``.
    public let text: String

    /// Parses a URL.
    /// - Throws: `misuse` with a description of the error.
    public init(_ text: String) throws {
        func wrong(_ what: String) -> StoreError {
            let shown = StoreURLText.redacted(text)
            return StoreError(
                .misuse, "\"\(shown)\" is not a store URL: \(what). Write engine:location, for example sqlite:company.sqlite.",
                location: shown)
        }
        guard !text.utf8.contains(0) else { throw wrong("it holds a NUL character") }
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { throw wrong("it names no engine") }
        let engine = text[..<colon]
        guard engine.utf8.allSatisfy({ $0 >= 0x61 && $0 <= 0x7a || $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2d }) else {
            let shown = StoreURLText.redacted(text)
            throw wrong("\"\(shown.prefix { $0 != ":" })\" is not an engine name, which has small letters, digits and hyphens")
        }
        var rest = text[text.index(after: colon)...]
        var query: Substring = ""
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        var server: StoreServer?
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            if end != rest.startIndex || rest.isEmpty {
                let authority = rest[..<end]
                rest = rest[end...].dropFirst()
                // It can be the rest of a password.
                guard !rest.contains("@"), authority.contains("@") || !query.contains("@") else {
                    throw wrong("an @ follows the host; in a user, a password or a name it is written %40")
                }
                do { server = try StoreServer(authority, unescape: Self.unescape) } catch let error as StoreServer.Invalid {
                    throw wrong(error.reason)
                }
            }
        }
        guard let location = Self.unescape(rest) else { throw wrong("a % is not followed by two hexadecimal digits, or they give no text") }
        var options: [String: String] = [:]
        for pair in query.split(separator: "&") {
            guard let equals = pair.firstIndex(of: "="), equals != pair.startIndex else {
                // It can be the rest of a value with an unescaped ampersand.
                let isShown = StoreURLText.redacted(text).split(whereSeparator: { "?&".contains($0) }).contains(pair)
                throw wrong(isShown ? "\"\(pair)\" is not option=value" : "an option is not option=value; & in a value is written %26")
            }
            guard let value = Self.unescape(pair[pair.index(after: equals)...]) else {
                throw wrong("the value of \(pair[..<equals]) has a % that is not followed by two hexadecimal digits, or they give no text")
            }
            guard options.updateValue(value, forKey: String(pair[..<equals])) == nil else {
                throw wrong("\(pair[..<equals]) is there twice")
            }
        }
        self.engine = String(engine)
        self.location = location
        self.server = server
        self.options = options
        self.text = text
    }

    private static func unescape(_ text: Substring) -> String? {
        guard text.contains("%") else { return String(text) }
        func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x41...0x46: byte - 0x41 + 10
            case 0x61...0x66: byte - 0x61 + 10
            default: nil
            }
        }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var at = 0
        while at < bytes.count {
            if bytes[at] != 0x25 {
                result.append(bytes[at])
                at += 1
            } else {
                guard at + 2 < bytes.count, let high = digit(bytes[at + 1]), let low = digit(bytes[at + 2]), high | low != 0 else {
                    return nil
                }
                result.append(high << 4 | low)
                at += 3
            }
        }
        return String(validating: result, as: UTF8.self)
    }
}

extension StoreURL {
    private func wrong(_ option: String, _ expected: String) -> StoreError {
        let value = StoreURLText.isSecret(option) ? StoreURLText.mark : options[option] ?? ""
        return StoreError(.misuse, "\(option)=\(value) in \"\(self)\": \(expected) is expected.", location: description)
    }

    /// Returns the location as a path.
    /// - Throws: `misuse` if the location is empty.
    public func path() throws -> String {
        guard !location.isEmpty else {
            throw StoreError(.misuse, "\"\(self)\" names no file; write \(engine):company.\(engine), for example.", location: description)
        }
        return location
    }

    /// Returns the value of a Boolean option; `nil` if it is absent.
    public func flag(_ option: String) throws -> Bool? {
        switch options[option] {
        case nil: return nil
        case "true", "yes", "1": return true
        case "false", "no", "0": return false
        default: throw wrong(option, "true or false")
        }
    }

    /// Returns the value of a number or size option: digits, optionally followed by `k`, `m` or `g` for 2^10, 2^20, 2^30; `nil` if it is absent.
    public func number(_ option: String) throws -> Int? {
        guard var value = options[option]?[...] else { return nil }
        let factors: [Character: Int] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        let factor = value.last.flatMap { factors[$0] }
        if factor != nil { value = value.dropLast() }
        guard let number = Int(value), number >= 0, value.first != "+" else {
            throw wrong(option, "a number such as 4096, 64k, 512m or 2g")
        }
        let (product, isTooLarge) = number.multipliedReportingOverflow(by: factor ?? 1)
        guard !isTooLarge else { throw wrong(option, "a number of 64 bits") }
        return product
    }
}

extension StoreURL {
    /// The password, and the values of the options whose names suggest a secret.
    package var secrets: [StoreSecret] {
        let values = options.filter { StoreURLText.isSecret($0.key) }.map { StoreSecret($0.value) }
        return (server?.password.map { [$0] } ?? []) + values + writtenSecrets
    }

    /// The secrets as the text writes them, if that is with escapes. A driver can repeat the text in an error.
    private var writtenSecrets: [StoreSecret] {
        let parts = text.split(separator: "?", maxSplits: 1)
        var found = parts.dropFirst().flatMap { $0.split(separator: "&") }.compactMap { pair in
            pair.firstIndex(of: "=").flatMap { StoreURLText.isSecret(pair[..<$0]) ? pair[$0...].dropFirst() : nil }
        }
        if server?.password != nil, let at = parts[0].lastIndex(of: "@"), let slashes = parts[0].firstIndex(of: "/") {
            let user = parts[0][slashes..<at]
            if let colon = user.firstIndex(of: ":") { found.append(user[colon...].dropFirst()) }
        }
        return found.filter { $0.contains("%") }.map { StoreSecret(String($0)) }
    }

    /// Returns the location of a store on a server for ``StoreConfiguration/location``: the engine, the hosts in lower case with their ports, and the name, without user,
    /// password and options. URLs that differ in nothing else have equal locations.
    /// - Parameters:
    ///   - defaultHost: The host if the URL contains none.
    ///   - defaultPort: The port of a host without one.
    ///   - names: The names of the options that determine the store and not only the connection, such as the schema in a database.
    public func serverLocation(defaultHost: String = "localhost", defaultPort: Int, namedBy names: Set<String> = []) -> String {
        var hosts = server?.hosts ?? []
        if hosts.isEmpty { hosts = [StoreServer.Host("")] }
        let text = hosts.map { host in
            let name = StoreURLText.escaped(
                host.name.isEmpty ? defaultHost : host.name.hasPrefix("/") ? host.name : host.name.lowercased(), keeping: ":")
            return (name.contains(":") ? "[\(name)]" : name) + ":\(host.port ?? defaultPort)"
        }
        let path = server == nil && location.hasPrefix("/") ? String(location.dropFirst()) : location
        let query = options.filter { names.contains($0.key) }.sorted { $0.key < $1.key }.map {
            "\($0.key)=\(StoreURLText.escaped($0.value))"
        }
        return "\(engine)://\(text.joined(separator: ","))/\(StoreURLText.escaped(path, keeping: "/"))"
            + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }
}

extension StoreURL: CustomDebugStringConvertible, CustomReflectable {
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Contains ``description`` only, so that a dump shows no password.
    public var customMirror: Mirror { Mirror(self, children: ["text": description], displayStyle: .struct) }
}

extension StoreURL: CustomStringConvertible {
    /// The text without passwords, for messages: `***` replaces a password before a host, and the values of options whose names suggest a secret, such as
    /// `password`, `key` and `token`.
    public var description: String { StoreURLText.redacted(text) }
}
