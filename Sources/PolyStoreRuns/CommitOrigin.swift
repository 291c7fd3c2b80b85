/// The metadata that a transaction passes to observers of its commit. A single object, because copying an existential takes hundreds of instructions
/// and most transactions have no metadata.
package final class CommitOrigin: Sendable {
    package let sourceIdentifier: (any Hashable & Sendable)?
    package let userInfo: [String: any Sendable]

    /// - Returns: nil without metadata. Not a failable initializer, which would allocate the object first.
    package static func make(_ sourceIdentifier: (any Hashable & Sendable)?, _ userInfo: [String: any Sendable]) -> CommitOrigin? {
        sourceIdentifier == nil && userInfo.isEmpty ? nil : CommitOrigin(sourceIdentifier, userInfo)
    }

    private init(_ sourceIdentifier: (any Hashable & Sendable)?, _ userInfo: [String: any Sendable]) {
        self.sourceIdentifier = sourceIdentifier
        self.userInfo = userInfo
    }
}
