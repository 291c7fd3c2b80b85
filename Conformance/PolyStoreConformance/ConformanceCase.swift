import PolyStoreBackend

/// A guarantee of every backend and the test that verifies it.
///
/// The author of a backend runs all cases:
///
///     let target = ConformanceTarget(name: "mine", capabilities: […]) { place in .mine(directory: place.path) }
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
    private let body: @Sendable (ConformanceRun) async throws -> Void

    init(
        _ id: String, _ statement: String, requires: Set<Capabilities.Feature> = [], findsDamage: Bool = false,
        _ body: @escaping @Sendable (ConformanceRun) async throws -> Void
    ) {
        self.id = id
        self.statement = statement
        self.requires = requires
        self.findsDamage = findsDamage
        self.body = body
    }

    /// The id.
    public var description: String { id }

    /// Returns the reason why the case does not apply to a backend; `nil` if it applies.
    public func reasonToSkip(_ target: ConformanceTarget) -> String? {
        let missing = requires.subtracting(target.capabilities)
        if !missing.isEmpty { return "needs \(missing.sorted().map(\.description).joined(separator: ", "))" }
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
        orderExpressionCases, mixedNumberCases, relatedPlanCases, relatedRefusalCases,
        functionCases, outerCases, statisticsCases, groupExpressionCases, orderedCases, isolationCases, versionCases, fileCases,
        damageCases,
        resetCases, linkNameCases, namedValueCases, changeLogCases, migrationCases, migrationFieldCases, migrationLinkCases,
        indexReplacementCases, copyingCases, compactionCases,
    ]
}

/// A violated guarantee.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The id of the case.
    public let caseID: String
    /// The checked condition and how it was violated.
    public let message: String
    /// The expected value; `nil` if the message is sufficient.
    public let expected: String?
    /// The actual value.
    public let found: String?

    init(caseID: String, message: String, expected: String? = nil, found: String? = nil) {
        self.caseID = caseID
        self.message = message
        self.expected = expected
        self.found = found
    }

    /// The case, the message and the values.
    public var description: String {
        guard let expected, let found else { return "\(caseID): \(message)" }
        return "\(caseID): \(message)\(message.isEmpty ? "" : ": ")expected \(expected), found \(found)"
    }
}

/// A backend under test, as specified by its author.
public struct ConformanceTarget: Sendable, CustomStringConvertible {
    /// The name of the backend.
    public let name: String
    /// The features that the backend must claim and support.
    public let capabilities: Set<Capabilities.Feature>
    /// A Boolean value that indicates whether a store detects changed bytes in its files.
    public let findsDamage: Bool
    let store: @Sendable (ConformancePlace) -> StoreConfiguration
    let teardown: @Sendable (ConformancePlace) throws -> Void

    /// - Parameters:
    ///   - name: The name of the backend in results.
    ///   - capabilities: The features that the backend claims. A case that needs another feature is skipped.
    ///   - findsDamage: Whether a store detects changed bytes in its files. `false` for an engine without checksums.
    ///   - store: Returns the configuration for a path. Called again with the same path to reopen the store.
    ///   - teardown: Removes data that a store has left elsewhere: on a server, or in other folders. Called after each case for each path that the case used,
    ///     when its stores are closed. Files at the path or beside it are removed in any case.
    public init(
        name: String, capabilities: Set<Capabilities.Feature>, findsDamage: Bool = true,
        store: @escaping @Sendable (ConformancePlace) -> StoreConfiguration,
        teardown: @escaping @Sendable (ConformancePlace) throws -> Void = { _ in }
    ) {
        self.name = name
        self.capabilities = capabilities
        self.findsDamage = findsDamage
        self.store = store
        self.teardown = teardown
    }

    /// The name.
    public var description: String { name }
}

/// The location of a case's store: a path that does not exist yet, in an existing folder.
public struct ConformancePlace: Sendable {
    /// The path.
    public let path: String
}
