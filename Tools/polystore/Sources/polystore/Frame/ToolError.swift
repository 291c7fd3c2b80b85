import Foundation
import PolyStoreCore
import PolyStoreFormats

import struct PolyStoreBackend.StoreError

/// An error of the tool with its exit code.
struct ToolError: Error {
    let status: ExitStatus
    /// A sentence that names what failed and what to do; empty for an end that needs no message.
    let message: String
    /// A Boolean value that indicates whether the bytes of the store are damaged.
    private(set) var isDamage = false

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Nothing was found. The command has already printed this.
    static let nothingFound = ToolError(.nothingFound, "")
    /// The reader of the output has closed it.
    static let closedOutput = ToolError(.closedOutput, "")

    /// Describes any error of a command.
    /// - Parameter isOpening: Whether it prevented a store from being opened.
    init(_ error: any Error, isOpening: Bool = false) {
        switch error {
        case let error as ToolError: self = error
        case is CancellationError: self.init(.interrupted, "Interrupted.")
        case let error as StoreError: self.init(error, isOpening)
        case let error as RecordError: self.init(.failure, "\(error)")
        case let error as CocoaError: self.init(.failure, error.localizedDescription)
        default: self.init(.failure, "\(error)")
        }
    }

    private init(_ error: StoreError, _ isOpening: Bool) {
        var text = error.message.replacing("call rebuildIndexes", with: "run polystore reindex")
        if let location = error.location, !text.contains(location) { text += " [\(location)]" }
        if let underlying = error.underlying, !text.contains(underlying) { text += " (\(underlying))" }
        self.init(Self.status(error.code, isOpening), text)
        isDamage = error.code == .corrupt
    }

    private static func status(_ code: StoreError.Code, _ isOpening: Bool) -> ExitStatus {
        switch code {
        case .cancelled: .interrupted
        case .misuse, .invalidPredicate, .storeNotFound: .usage
        case .invalidSchema where !isOpening: .usage
        default: isOpening ? .cannotOpen : .failure
        }
    }
}
