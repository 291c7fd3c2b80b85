import PolyStoreBackend

/// A guarantee of every backend and the test that verifies it.
///
/// The author of a backend runs all cases:
///
///     let target = ConformanceTarget(name: "mine", capabilities: […]) { location in .mine(directory: location.path) }
///
///     @Test(arguments: ConformanceCase.all)
///     func conforms(_ c: ConformanceCase) async throws { try await c.run(target) }
public struct ConformanceCase: Sendable, Identifiable, CustomStringConvertible {
    /// The stable id, `area.subject.what-holds`. A published id keeps its meaning.
    public let id: String
    /// The guarantee in one sentence.
    public let statement: String
    /// The features without which the case does not apply to a backend.
    public let requires: Set<Capabilities.Feature>
    /// A Boolean value that indicates whether the case requires a store that detects damage; see ``ConformanceTarget/findsDamage``.
    private let findsDamage: Bool
    /// A Boolean value that indicates whether the case requires a store in local files; see ``ConformanceTarget/keepsLocalFiles``.
    private let needsFiles: Bool
    /// A Boolean value that indicates whether the case requires a target that lets commits fail.
    private let needsFaults: Bool
    private let body: @Sendable (ConformanceRun) async throws -> Void

    init(
        _ id: String, _ statement: String, requires: Set<Capabilities.Feature> = [], findsDamage: Bool = false, needsFiles: Bool = false,
        needsFaults: Bool = false,
        _ body: @escaping @Sendable (ConformanceRun) async throws -> Void
    ) {
        self.id = id
        self.statement = statement
        self.requires = requires
        self.findsDamage = findsDamage
        self.needsFiles = needsFiles
        self.needsFaults = needsFaults
        self.body = body
    }

    /// The id.
    public var description: String { id }

    /// Returns the reason why the case does not apply to a backend; `nil` if it applies.
    public func reasonToSkip(_ target: ConformanceTarget) -> String? {
        let missing = requires.subtracting(target.capabilities)
        if !missing.isEmpty { return "needs \(missing.sorted().map(\.description).joined(separator: ", "))" }
        if needsFaults, target.failCommit == nil { return "lets no commit fail" }
        if needsFiles, !target.keepsLocalFiles { return "keeps no local files" }
        return findsDamage && !target.findsDamage ? "finds no damage" : nil
    }

    /// The time limit of a case on a machine of normal speed. It is scaled on slower or loaded machines.
    public static let timeLimit: Duration = .seconds(120)

    /// Runs the case on a separate thread with its own scratch folder. Afterwards the target's teardown runs, and the folder is removed.
    /// - Parameters:
    ///   - target: The backend to test.
    ///   - timeLimit: The time after which the case fails. Its thread and folder are then left behind.
    /// - Throws: ``ConformanceFailure``.
    /// - Returns: `false` if the case was skipped because a capability is missing; see ``reasonToSkip(_:)``.
    @discardableResult
    public func run(_ target: ConformanceTarget, timeLimit: Duration = ConformanceCase.timeLimit) async throws -> Bool {
        guard reasonToSkip(target) == nil else { return false }
        let run = try ConformanceRun(target, id)
        try await CaseRunner.run(id, within: timeLimit) { [id, body] in
            let result: Result<Void, any Error>
            do { result = .success(try await body(run)) } catch { result = .failure(error) }
            do {
                // The failure of the case takes precedence over that of the cleanup.
                let clearing = Result { try run.cleanUp() }
                try result.get()
                try clearing.get()
            } catch let error as StoreError {
                throw ConformanceFailure(caseID: id, message: "an error that should not have been: \(error)")
            }
        }
        return true
    }

    /// All cases. Ids are unique.
    public static let all: [ConformanceCase] = areas.flatMap { $0 }

    private static let areas: [[ConformanceCase]] = [
        capabilityCases, openingCases, nameCases, lifetimeCases, valueCases, writingCases, refusalCases, transactionCases,
        uniquenessCases, comparisonCases, textCases, orderCases, queryCases, relationshipCases, concurrencyCases, differentialCases,
        aggregateCases, sumCases, aggregateTypeCases, groupCases, planCases, plannedIndexCases, planCostCases, fieldCases, uniqueTypeCases,
        compoundIndexCases, keyCases, bigValueCases, indexMaintenanceCases, linkCases, snapshotCases, identifierCases, applyCases,
        reopenCases, relatedCases, expressionCases, patternCases, foldedTextCases,
        orderExpressionCases, mixedNumberCases, relatedPlanCases, pathAggregateCases, relatedRefusalCases,
        functionCases, datePartCases, jsonFieldCases, jsonIndexCases, shuffleCases, outerCases, decimalCases, statisticsCases, modeCases,
        groupExpressionCases,
        orderedCases, isolationCases,
        versionCases,
        fileCases,
        damageCases,
        resetCases, linkNameCases, namedValueCases, changeLogCases, migrationCases, migrationFieldCases, migrationLinkCases,
        indexReplacementCases, copyingCases, compactionCases, manyCases,
        flushCases, storeNameCases, recoveryCases, severalSetsCases, requiredObjectCases, interruptionCases,
        searchCases, searchRankCases, searchChangeCases, searchStoreCases, searchFormatCases,
    ]
}
