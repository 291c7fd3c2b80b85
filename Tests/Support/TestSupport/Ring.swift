/// How thorough a run of the tests is. The environment variable `POLYSTORE_RING` selects it: `thorough`, or anything else for ``commit``.
package enum Ring: Sendable {
    /// What every commit must pass, in a few minutes.
    case commit
    /// All backends, and more and larger random cases.
    case thorough

    /// The ring of this run.
    package static let current: Ring = TestEnvironment.text("POLYSTORE_RING") == "thorough" ? .thorough : .commit

    /// Returns one of two sizes of a test, such as a number of rows, seeds or rounds.
    /// - Parameters:
    ///   - commit: The size in the ring ``commit``. It must suffice to detect what the test is for.
    ///   - thorough: The size in the ring ``thorough``.
    package static func size<Size>(_ commit: Size, thorough: Size) -> Size { current == .thorough ? thorough : commit }
}
