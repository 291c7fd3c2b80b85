import PolyStoreBackend
import PolyStoreKeyValue

/// A guarantee of every ordered engine and the test that verifies it, on `OrderedEngine` without the record layer.
///
/// The author of an engine runs all cases, in addition to ``ConformanceCase``:
///
///     @Test(arguments: EngineCase.all)
///     func conforms(_ c: EngineCase) async throws { try await c.run(engine) }
public struct EngineCase: Sendable, Identifiable, CustomStringConvertible {
    /// A requirement of a case beyond the contract of every engine.
    enum Need: Sendable {
        case nothing
        /// A ``TransactionalEngine``.
        case writer
        /// A target that can make writes fail.
        case failingWrites
    }

    /// The stable id, `engine.subject.what-holds`. A published id keeps its meaning.
    public let id: String
    /// The guarantee in one sentence.
    public let statement: String
    /// The features without which the case does not apply to an engine.
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

    /// The id.
    public var description: String { id }

    /// Returns the reason why the case does not apply to an engine; `nil` if it applies.
    public func reasonToSkip(_ target: EngineTarget) -> String? {
        let missing = requires.subtracting(target.features)
        if !missing.isEmpty { return "needs \(missing.sorted().map(\.description).joined(separator: ", "))" }
        switch need {
        case .nothing: return nil
        case .writer: return target.isTransactional ? nil : "needs a TransactionalEngine"
        case .failingWrites: return target.setWritesFail == nil ? "needs setWritesFail" : nil
        }
    }

    /// Runs the case on a separate thread with its own scratch folder. Afterwards the target's teardown runs, and the folder is removed.
    /// - Parameters:
    ///   - target: The engine to test.
    ///   - timeLimit: The time on a machine of normal speed after which the case fails. Its thread is then left behind.
    /// - Throws: ``ConformanceFailure``.
    /// - Returns: `false` if the case does not apply and was skipped; see ``reasonToSkip(_:)``.
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

    /// All cases. Ids are unique.
    public static let all: [EngineCase] = [
        engineSeekCases, engineCursorCases, engineBatchCases, engineValueCases, engineWriteCases, engineSnapshotCases, engineSharingCases,
        enginePersistenceCases, engineWriterCases, engineRandomCases,
    ].flatMap { $0 }
}
