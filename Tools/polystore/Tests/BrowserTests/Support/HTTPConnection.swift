import Foundation

/// A connection to a server of this machine that sends what a test gives it, byte for byte.
final class HTTPConnection: Sendable {
    private let descriptor: Int32

    /// The answer to a request.
    struct Answer: Sendable {
        let status: Int
        /// The fields by name in small letters; of a name that occurs several times the last one.
        let headers: [String: String]
        let body: Data

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    struct Failure: Error { let message: String }

    init(port: Int) throws {
        #if os(Linux)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        // A server that does not answer fails the test instead of holding it.
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard result == 0 else { throw Failure(message: String(cString: strerror(errno))) }
    }

    deinit { close(descriptor) }

    /// Sends bytes.
    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure(message: String(cString: strerror(errno))) }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits for bytes, and returns those that have arrived; none at the end.
    func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw Failure(message: String(cString: strerror(errno))) }
        return Array(buffer[..<count])
    }

    /// Waits until the text that has arrived satisfies a condition, and returns it.
    func receive(until isComplete: (String) -> Bool) throws -> String {
        var bytes: [UInt8] = []
        while true {
            let part = try receive()
            bytes += part
            let text = String(decoding: bytes, as: UTF8.self)
            if isComplete(text) { return text }
            guard !part.isEmpty else { throw Failure(message: "The server closed the connection after: \(text)") }
        }
    }

    /// Waits for the answer of a request that asked to close the connection.
    func answer() throws -> Answer {
        var bytes: [UInt8] = []
        while true {
            let part = try receive()
            if part.isEmpty { break }
            bytes += part
        }
        return try Answer(bytes)
    }
}

extension HTTPConnection.Answer {
    init(_ bytes: [UInt8]) throws {
        let data = Data(bytes)
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else {
            throw HTTPConnection.Failure(message: "No head: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
        }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        status = Int(lines[0].split(separator: " ")[1]) ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        self.headers = headers
        let rest = data[end.upperBound...]
        body = headers["transfer-encoding"] == "chunked" ? Self.joined(rest) : Data(rest)
    }

    private static func joined(_ chunks: Data) -> Data {
        var (rest, result) = (chunks, Data())
        while let end = rest.range(of: Data("\r\n".utf8)) {
            guard let count = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16), count > 0 else { break }
            result += rest[end.upperBound..<min(end.upperBound + count, rest.endIndex)]
            rest = rest[min(end.upperBound + count + 2, rest.endIndex)...]
        }
        return result
    }
}
