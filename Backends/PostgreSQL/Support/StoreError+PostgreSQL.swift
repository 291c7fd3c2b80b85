import CPostgreSQL
import PolyStoreBackend

extension StoreError {
    /// Creates a store error from an error of the server.
    init(postgreSQL result: OpaquePointer, location: String) {
        let state = PQresultErrorField(result, polystore_pg_diag_sqlstate).map { String(cString: $0) } ?? ""
        // The details and the context can contain values of rows.
        let text =
            PQresultErrorField(result, polystore_pg_diag_message).map { String(cString: $0) }
            ?? Self.firstLine(PQresultErrorMessage(result))
        self.init(sqlState: state, text: text, location: location)
        if let name = PQresultErrorField(result, polystore_pg_diag_constraint) { attribute = String(cString: name) }
        if let name = PQresultErrorField(result, polystore_pg_diag_table) { entity = String(cString: name) }
    }

    /// Creates a store error from the code of an error, which PostgreSQL calls SQLSTATE.
    init(sqlState state: String, text: String, location: String) {
        let (code, recovery, reason) = Self.meaning(of: state)
        self.init(
            code, "\(location): \(reason).", location: location, engineCode: Int(state, radix: 36) ?? 0,
            underlying: state.isEmpty ? text : "\(state): \(text)", recovery: recovery)
    }

    /// Creates a store error for a connection that could not be opened.
    init(connecting handle: OpaquePointer?, location: String) {
        let text = Self.firstLine(PQerrorMessage(handle))
        let needsPassword = PQconnectionNeedsPassword(handle) != 0
        let isFull = text.contains("too many clients") || text.contains("remaining connection slots")
        let advice =
            needsPassword
            ? "It asks for a password. Write it into the URL, or use a password file"
            : isFull ? "It has no free connection. Try again later" : "Check the URL, that the server runs, and the rights of the user"
        self.init(
            isFull ? .busy : .io, "Cannot connect to the server of \(location). \(advice).", location: location, underlying: text)
    }

    /// Returns the first line of a message of libpq.
    static func firstLine(_ message: UnsafePointer<CChar>?) -> String {
        let text = message.map { String(cString: $0) } ?? ""
        return text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no message"
    }

    /// The SQLSTATE of the error; empty if it has none.
    var sqlState: String { engineCode == 0 ? "" : String(engineCode, radix: 36, uppercase: true).leftPadded(to: 5) }

    private static func meaning(of state: String) -> (code: Code, recovery: Recovery?, reason: String) {
        switch state {
        case "40001", "40P01": (.conflict, .retryable, "the transaction conflicts with a concurrent one and was rolled back")
        case "40003": (.io, .commitOutcomeUnknown, "the server does not know whether the transaction was committed")
        case "57P01", "57P02", "57P05", "25P03": (.io, .connectionLost, "the server ended the connection")
        case "57P03": (.busy, nil, "the server is starting, stopping or recovering. Try again later")
        case "57014": (.busy, nil, "the server ended a statement that took too long, or that was cancelled")
        case "55P03": (.busy, nil, "another transaction holds the lock of the store. Try again later")
        case "25006": (.readOnly, nil, "the transaction, the user or the server allows only reading")
        case "42501": (.io, nil, "the user lacks a right. Grant it, or use another user")
        case "53300": (.busy, nil, "the server has no free connection. Try again later")
        case "54000": (.full, nil, "a value is larger than PostgreSQL supports in its place")
        case "XX001", "XX002": (.corrupt, nil, "the data on the server is damaged. Restore it from a backup")
        default: meaning(ofClass: state.prefix(2))
        }
    }

    private static func meaning(ofClass state: Substring) -> (code: Code, recovery: Recovery?, reason: String) {
        switch state {
        case "08": (.io, .connectionLost, "the connection to the server ended")
        case "23": (.constraint, nil, "a constraint of the tables is violated")
        case "28": (.io, nil, "the server refuses the user. Check the user and the password")
        case "3D": (.io, nil, "the database does not exist. Create it, or correct the URL")
        case "40": (.conflict, .retryable, "the transaction was rolled back")
        case "53", "54": (.full, nil, "the server has reached a limit of its disk, its memory or its configuration")
        // Every statement is generated and fits the tables that this library creates.
        case "42", "0A": (.corrupt, nil, "the tables differ from those that this library creates, or a statement does not fit them")
        default: (.io, nil, "the server reported an error")
        }
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String { String(repeating: "0", count: max(0, count - utf8.count)) + self }
}
