/// The server of a store URL: `user:password@host:port,host:port`.
public struct StoreServer: Sendable, Hashable {
    /// A host of a server.
    public struct Host: Sendable, Hashable {
        /// The name or the address with escapes resolved, without the brackets of an IPv6 address; empty for the default host.
        public let name: String
        /// The port; nil for the default port.
        public let port: Int?

        /// Creates a host.
        public init(_ name: String, port: Int? = nil) {
            self.name = name
            self.port = port
        }
    }

    /// The reason why a text is not a server.
    struct Invalid: Error {
        let reason: String
    }

    /// The hosts in the order of the URL; empty if the URL names only a user.
    public let hosts: [Host]
    /// The user with escapes resolved; nil if there is none.
    public let user: String?
    /// The password with escapes resolved; nil if there is none. It is printed as `***`.
    public let password: StoreSecret?

    /// Parses the text between `//` and the next `/`.
    init(_ text: Substring, unescape: (Substring) -> String?) throws {
        func resolved(_ text: Substring) throws -> String {
            guard let result = unescape(text) else {
                throw Invalid(reason: "a % in the server is not followed by two hexadecimal digits, or they give no text")
            }
            return result
        }
        var rest = text
        if let at = text.lastIndex(of: "@") {
            let account = text[..<at]
            rest = text[text.index(after: at)...]
            let colon = account.firstIndex(of: ":")
            user = try resolved(account[..<(colon ?? account.endIndex)])
            password = try colon.map { StoreSecret(try resolved(account[account.index(after: $0)...])) }
        } else {
            user = nil
            password = nil
        }
        let parts = rest.isEmpty ? [] : rest.split(separator: ",", omittingEmptySubsequences: false)
        hosts = try parts.map { (part: Substring) throws -> Host in
            var name = part
            var port: Substring?
            if part.hasPrefix("[") {
                guard let close = part.firstIndex(of: "]") else { throw Invalid(reason: "a host has no closing bracket") }
                name = part[part.index(after: part.startIndex)..<close]
                let after = part[part.index(after: close)...]
                guard after.isEmpty || after.hasPrefix(":") else { throw Invalid(reason: "a port follows the closing bracket of a host") }
                port = after.isEmpty ? nil : after.dropFirst()
            } else if let colon = part.firstIndex(of: ":") {
                name = part[..<colon]
                port = part[part.index(after: colon)...]
            }
            guard let port, !port.isEmpty else { return Host(try resolved(name)) }
            // It can be a part of a password, so it is not quoted.
            guard port.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(port), 1...65535 ~= number else {
                throw Invalid(reason: "a port is not a number from 1 to 65535")
            }
            return Host(try resolved(name), port: number)
        }
    }
}

/// A text that is not printed: its description and its mirror contain `***`.
public struct StoreSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text.
    public let value: String

    /// Creates a secret.
    public init(_ value: String) { self.value = value }

    /// `***`.
    public var description: String { StoreURLText.mark }
    /// `***`.
    public var debugDescription: String { StoreURLText.mark }
    /// Contains no part of the text.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }

    /// Returns a text in which secrets are replaced by `***`.
    static func redact(_ text: String, _ secrets: [StoreSecret]) -> String {
        // The longest first, because one can contain another.
        secrets.map(\.value).filter { !$0.isEmpty }.sorted { $0.utf8.count > $1.utf8.count }.reduce(text) { text, secret in
            guard text.contains(secret) else { return text }
            return text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: StoreURLText.mark)
        }
    }
}

/// Removes secrets from the messages of a store.
struct RedactingLogger: StoreLogger {
    let inner: any StoreLogger
    let secrets: [StoreSecret]

    func isEnabled(_ level: LogLevel) -> Bool { inner.isEnabled(level) }

    func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        inner.log(level, StoreSecret.redact(message, secrets), file: file, line: line, function: function)
    }

    func log(_ level: LogLevel, _ message: String, metadata: [LogKey: LogValue], file: StaticString, line: UInt, function: StaticString) {
        let metadata = metadata.mapValues { value in
            if case .text(let text) = value { LogValue.text(StoreSecret.redact(text, secrets)) } else { value }
        }
        inner.log(level, StoreSecret.redact(message, secrets), metadata: metadata, file: file, line: line, function: function)
    }

    func log(_ error: StoreError, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        inner.log(error.redacted(secrets), StoreSecret.redact(message, secrets), file: file, line: line, function: function)
    }
}

extension StoreError {
    /// Returns the error without secrets in its texts.
    func redacted(_ secrets: [StoreSecret]) -> StoreError {
        guard !secrets.isEmpty else { return self }
        var error = self
        error.message = StoreSecret.redact(message, secrets)
        error.location = location.map { StoreSecret.redact($0, secrets) }
        error.underlying = underlying.map { StoreSecret.redact($0, secrets) }
        return error
    }
}
