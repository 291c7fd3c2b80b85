public import Foundation
public import PolyStoreBackend

extension StoreError: LocalizedError {
    /// The message of the error.
    public var errorDescription: String? { message }
    /// The error message of the engine, if there is one.
    public var failureReason: String? { underlying }
}

extension StoreError: CustomNSError {
    /// The error domain of all store errors.
    public static var errorDomain: String { "PolyStore" }

    /// The position of `code` in the list of codes, from 1; 0 for a code of another module. The numbers are stable.
    public var errorCode: Int {
        let codes: [Code] = [
            .constraint, .conflict, .notFound, .corrupt, .full, .busy, .incompatibleSchema, .migrationRequired, .invalidSchema,
            .storeNotFound,
            .ambiguousStore, .differentStoreAtURL, .notAStore, .invalidPredicate, .unsupported, .cancelled, .closed, .misuse, .readOnly,
            .io,
            .historyExpired, .invalidValue, .timedOut,
        ]
        return (codes.firstIndex(of: code) ?? -1) + 1
    }

    /// The message, and the details of the error under `entity`, `attribute`, `rowID`, `location`, `engineCode` and, unless it is permanent, `recovery`.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let underlying { info[NSLocalizedFailureReasonErrorKey] = underlying }
        if let entity { info["entity"] = entity }
        if let attribute { info["attribute"] = attribute }
        if let rowID { info["rowID"] = rowID }
        if let location { info["location"] = location }
        if engineCode != 0 { info["engineCode"] = engineCode }
        if recovery != .permanent { info["recovery"] = recovery.rawValue }
        return info
    }
}
