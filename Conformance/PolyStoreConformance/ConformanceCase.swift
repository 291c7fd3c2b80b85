import PolyStoreBackend

/// One guarantee that every backend gives, with the test that shows it.
///
/// A backend author runs all of them:
///
///     let target = ConformanceTarget(name: "mine", capabilities: […]) { place in .mine(directory: place.path) }
///
///     @Test(arguments: ConformanceCase.all)
///     func conforms(_ c: ConformanceCase) async throws { try await c.run(target) }
public struct ConformanceCase: Sendable, Identifiable, CustomStringConvertible {
    /// Stable: once published, an id keeps its meaning. `area.subject.what-holds`.
    public let id: String
    /// The guarantee in one sentence.
    public let statement: String
    /// Without these the case does not apply to a backend.
    public let requires: Set<Capabilities.Feature>
    /// Whether the case is about stores that find damage: see ``ConformanceTarget/findsDamage``.
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

    public var description: String { id }

    /// Why the case does not apply to a backend; nil where it does.
    public func reasonToSkip(_ target: ConformanceTarget) -> String? {
        let missing = requires.subtracting(target.capabilities)
        if !missing.isEmpty { return "needs \(missing.sorted().map(\.description).joined(separator: ", "))" }
        return findsDamage && !target.findsDamage ? "finds no damage" : nil
    }

    /// What a case may take on a machine of the usual speed. A slower or loaded machine gets more, in proportion.
    public static let timeLimit: Duration = .seconds(120)

    /// Runs the case in a scratch folder of its own, on a thread of its own. Afterwards the target's teardown runs, and the folder is removed.
    /// - Parameter timeLimit: A case that takes longer fails and names itself; its thread stays behind, and so does its folder.
    /// - Throws: ``ConformanceFailure``.
    /// - Returns: whether it ran; false where a capability is missing (see ``reasonToSkip(_:)``).
    @discardableResult
    public func run(_ target: ConformanceTarget, timeLimit: Duration = ConformanceCase.timeLimit) async throws -> Bool {
        guard reasonToSkip(target) == nil else { return false }
        let run = try ConformanceRun(target, id)
        try await CaseRunner.run(id, within: timeLimit) { [id, body] in
            let result: Result<Void, any Error>
            do { result = .success(try await body(run)) } catch { result = .failure(error) }
            do {
                // The failure of the case comes first, that of clearing up second.
                let clearing = Result { try run.cleanUp() }
                try result.get()
                try clearing.get()
            } catch let error as StoreError {
                throw ConformanceFailure(caseID: id, message: "an error that should not have been: \(error)")
            }
        }
        return true
    }

    /// Every case. Ids are unique.
    public static let all: [ConformanceCase] = areas.flatMap { $0 }

    private static let areas: [[ConformanceCase]] = [
        capabilityCases, openingCases, nameCases, lifetimeCases, valueCases, writingCases, refusalCases, transactionCases,
        uniquenessCases, comparisonCases, textCases, orderCases, queryCases, relationshipCases, concurrencyCases, differentialCases,
        aggregateCases, sumCases, aggregateTypeCases, groupCases, planCases, plannedIndexCases, fieldCases, uniqueTypeCases,
        compoundIndexCases, keyCases, bigValueCases, indexMaintenanceCases, linkCases, snapshotCases, identifierCases, applyCases,
        reopenCases, relatedCases, expressionCases, patternCases, foldedTextCases,
        orderExpressionCases, mixedNumberCases, relatedPlanCases, relatedRefusalCases,
        statisticsCases, groupExpressionCases, orderedCases, isolationCases, versionCases, fileCases, damageCases,
        resetCases, linkNameCases, namedValueCases, changeLogCases,
    ]
}

/// A guarantee that did not hold.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    public let caseID: String
    /// What was looked at, and what was wrong with it.
    public let message: String
    /// What should have been; nil where the message says it all.
    public let expected: String?
    /// What was instead.
    public let found: String?

    init(caseID: String, message: String, expected: String? = nil, found: String? = nil) {
        self.caseID = caseID
        self.message = message
        self.expected = expected
        self.found = found
    }

    public var description: String {
        guard let expected, let found else { return "\(caseID): \(message)" }
        return "\(caseID): \(message)\(message.isEmpty ? "" : ": ")expected \(expected), found \(found)"
    }
}

/// The backend under test, as its author hands it in.
public struct ConformanceTarget: Sendable, CustomStringConvertible {
    public let name: String
    /// What the backend must claim, and is held to.
    public let capabilities: Set<Capabilities.Feature>
    /// Whether a store finds out that bytes of its files have changed.
    public let findsDamage: Bool
    let store: @Sendable (ConformancePlace) -> StoreConfiguration
    let teardown: @Sendable (ConformancePlace) throws -> Void

    /// - Parameters:
    ///   - findsDamage: Whether a store finds out that bytes of its files have changed. False for an engine without checksums.
    ///   - store: The configuration for a place. Called again with the same place to open the same store anew.
    ///   - teardown: Removes what a store of the place has left elsewhere: a server, files in other folders. Called after each case for each place
    ///     that the case used, when its stores are closed. What lies at the place or beside it is removed anyway.
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

    public var description: String { name }
}

/// Where a case wants its store: a path that does not exist yet, in a folder that does.
public struct ConformancePlace: Sendable {
    public let path: String
}
