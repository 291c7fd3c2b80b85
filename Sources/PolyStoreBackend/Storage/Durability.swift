/// The failures that an acknowledged commit survives.
public enum Durability: String, Sendable, Hashable, Codable, CaseIterable {
    /// The commit survives a killed process, a system crash and a power failure: `commit` returns after the data is flushed to disk. The default.
    case full
    /// The commit survives a killed process. A power failure may lose the last commits but never leaves a torn commit.
    case relaxed
}
