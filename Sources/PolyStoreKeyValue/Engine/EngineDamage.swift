/// Damage that makes reading entries unsafe. Verification reports only these findings.
public struct EngineDamage: Error {
    /// A sentence for each finding.
    public let findings: [String]

    /// - Parameter findings: A sentence for each finding.
    public init(_ findings: [String]) { self.findings = findings }
}
