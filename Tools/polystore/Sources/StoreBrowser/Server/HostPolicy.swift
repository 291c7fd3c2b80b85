import Foundation

/// Which values of the header `Host` are answered.
///
/// A page of another site can resolve its own name to this machine (DNS rebinding), and then the browser permits it to read the answers.
/// Such a request names the other site as its host.
struct HostPolicy: Sendable {
    /// The host that the server listens on.
    let host: String
    /// Whether the server listens on all interfaces.
    let listensEverywhere: Bool

    /// Returns whether a request with this header was sent to this server.
    /// - Parameter port: The port of the connection.
    func permits(_ header: String, port: Int) -> Bool {
        let (name, headerPort) = Self.split(header)
        guard headerPort == port || headerPort == nil && port == 80 else { return false }
        let lowercased = name.lowercased()
        if ["127.0.0.1", "localhost", "::1"].contains(lowercased) || lowercased == host.lowercased() { return true }
        return listensEverywhere && (Self.isAddress(name) || lowercased == ProcessInfo.processInfo.hostName.lowercased())
    }

    /// Returns the name and the port of a header, without the brackets of an address of IPv6. The port is -1 if it is not a number.
    private static func split(_ header: String) -> (name: String, port: Int?) {
        if header.hasPrefix("["), let end = header.firstIndex(of: "]") {
            let rest = header[header.index(after: end)...]
            let name = String(header[header.index(after: header.startIndex)..<end])
            return (name, rest.isEmpty ? nil : rest.hasPrefix(":") ? Int(rest.dropFirst()) ?? -1 : -1)
        }
        guard let colon = header.lastIndex(of: ":") else { return (header, nil) }
        return (String(header[..<colon]), Int(header[header.index(after: colon)...]) ?? -1)
    }

    /// Returns whether a name is a numeric address, which no name server resolves.
    private static func isAddress(_ name: String) -> Bool {
        var (four, six) = (in_addr(), in6_addr())
        return inet_pton(AF_INET, name, &four) == 1 || inet_pton(AF_INET6, name, &six) == 1
    }

    /// Returns the address of the server for a person to open.
    static func address(host: String, port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
