/// What an acknowledged commit survives.
public enum Durability: String, Sendable, Hashable, Codable, CaseIterable {
    /// The end of the process, a crash of the system, a power cut: the data has reached the disk when `commit` returns. The default.
    case full
    /// The end of the process, killed or not. A power cut may lose the last commits, never tear one.
    case relaxed
}
