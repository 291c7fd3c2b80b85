/// The metadata that a transaction passes to observers of its commit. A single object, because copying an existential takes hundreds of instructions
/// and most transactions have no metadata.
final class CommitOrigin: Sendable {
    let source: (any Hashable & Sendable)?
    let userInfo: [String: any Sendable]

    /// - Returns: nil without metadata. Not a failable initializer, which would allocate the object first.
    static func make(_ source: (any Hashable & Sendable)?, _ userInfo: [String: any Sendable]) -> CommitOrigin? {
        source == nil && userInfo.isEmpty ? nil : CommitOrigin(source, userInfo)
    }

    private init(_ source: (any Hashable & Sendable)?, _ userInfo: [String: any Sendable]) {
        self.source = source
        self.userInfo = userInfo
    }
}
