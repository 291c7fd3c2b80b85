import PolyStoreBackend
import PolyStoreKeyValue

/// One guarantee that every ordered engine gives, with the test that shows it: ``OrderedEngine`` without the record layer.
///
/// The author of an engine runs all of them, beside ``ConformanceCase``:
///
///     @Test(arguments: EngineCase.all)
///     func keepsTheContract(_ c: EngineCase) async throws { try await c.run(engine) }
public struct EngineCase: Sendable, Identifiable, CustomStringConvertible {
    /// What a case needs beyond the contract that every engine keeps.
    enum Need: Sendable {
        case nothing
        /// A ``TransactionalEngine``.
        case writer
        /// A target that can make writes fail.
        case failingWrites
    }

    /// Stable: once published, an id keeps its meaning. `engine.subject.what-holds`.
    public let id: String
    /// The guarantee in one sentence.
    public let statement: String
    /// Without these the case does not apply to an engine.
    public let requires: Set<Capabilities.Feature>
    private let need: Need
    private let body: @Sendable (EngineRun) async throws -> Void

    init(
        _ id: String, _ statement: String, requires: Set<Capabilities.Feature> = [], needs need: Need = .nothing,
        _ body: @escaping @Sendable (EngineRun) async throws -> Void
    ) {
        self.id = id
        self.statement = statement
        self.requires = requires
        self.need = need
        self.body = body
    }

    public var description: String { id }

    /// Why the case does not apply to an engine; nil where it does.
    public func reasonToSkip(_ target: EngineTarget) -> String? {
        let missing = requires.subtracting(target.features)
        if !missing.isEmpty { return "needs \(missing.sorted().map(\.description).joined(separator: ", "))" }
        switch need {
        case .nothing: return nil
        case .writer: return target.isTransactional ? nil : "needs a TransactionalEngine"
        case .failingWrites: return target.setWritesFail == nil ? "needs setWritesFail" : nil
        }
    }

    /// Runs the case in a scratch folder of its own, on a thread of its own. Afterwards the target's teardown runs, and the folder is removed.
    /// - Parameter timeLimit: A case that takes longer on a machine of the usual speed fails and names itself; its thread stays behind.
    /// - Throws: ``ConformanceFailure``.
    /// - Returns: whether it ran; false where it does not apply (see ``reasonToSkip(_:)``).
    @discardableResult
    public func run(_ target: EngineTarget, timeLimit: Duration = ConformanceCase.timeLimit) async throws -> Bool {
        guard reasonToSkip(target) == nil else { return false }
        try await Self.run(id, on: target, timeLimit: timeLimit, body)
        return true
    }

    static func run(
        _ id: String, on target: EngineTarget, timeLimit: Duration, _ body: @escaping @Sendable (EngineRun) async throws -> Void
    ) async throws {
        let run = EngineRun(target, id, try ScratchFolder())
        try await CaseRunner.run(id, within: timeLimit) {
            let result: Result<Void, any Error>
            do { result = .success(try await body(run)) } catch { result = .failure(error) }
            let clearing = Result { try run.cleanUp() }
            do {
                try result.get()
                try clearing.get()
            } catch let error as ConformanceFailure {
                throw error
            } catch {
                throw ConformanceFailure(caseID: id, message: "an error that should not have been: \(error)")
            }
        }
    }

    /// Every case. Ids are unique.
    public static let all: [EngineCase] = [
        engineSeekCases, engineWalkCases, engineBatchWalkCases, engineValueCases, engineWriteCases, engineSnapshotCases, engineSharingCases,
        enginePersistenceCases, engineWriterCases, engineRandomCases,
    ].flatMap { $0 }
}
