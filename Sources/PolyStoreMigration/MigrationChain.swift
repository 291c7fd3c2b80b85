import PolyStoreBackend
import PolyStoreKernel

/// The order in which a store is migrated through the versions of a schema.
///
///     let linear: MigrationChain = ["Company 1", "Company 2", "Company 3"]
///     let tree: MigrationChain = [
///         "Company 1": "Company 3",
///         "Company 2": "Company 4",
///         "Company 3": "Company 4",
///     ]
///
/// `nil`, `[]` and `[:]` are empty chains, as in CoreStore: a store is migrated from its version to the current one in a single step. A chain with a
/// duplicate, a loop or several last versions is reported by `DataStack.init(_:logger:)`, with the versions concerned.
///
/// Two chains are equal if they contain the same versions and the same steps, however they were written.
public struct MigrationChain: Sendable, Hashable {
    /// The version that follows each version.
    private var next: [String: String] = [:]
    /// The versions in the given order.
    private var versions: [String] = []
    /// The reason why the chain is invalid; `nil` if it is valid.
    private(set) var problem: String?

    /// Creates an empty chain.
    public init() {}

    /// Creates a chain in which each version is followed by the next one of a list.
    public init(_ versions: [String]) {
        var seen: Set<String> = []
        for version in versions where !seen.insert(version).inserted {
            problem = problem ?? "the version \"\(version)\" occurs twice"
        }
        self.versions = versions
        for (version, follower) in zip(versions, versions.dropFirst()) { next[version] = next[version] ?? follower }
    }

    /// Creates a chain from single steps.
    ///
    /// - Parameter steps: Pairs of a version and the next one, in any order.
    public init(_ steps: [(String, String)]) {
        for (version, follower) in steps {
            if let other = next[version] {
                problem = problem ?? "the version \"\(version)\" is followed by both \"\(other)\" and \"\(follower)\""
            }
            next[version] = next[version] ?? follower
            for name in [version, follower] where !versions.contains(name) { versions.append(name) }
        }
        if problem == nil, let loop = loop() {
            problem = "the versions \(loop.map { "\"\($0)\"" }.joined(separator: ", ")) form a loop"
        }
        if problem == nil, leaves.count > 1 {
            problem =
                "it ends in several versions, \(leaves.map { "\"\($0)\"" }.joined(separator: " and ")); there can be one current version"
        }
    }

    /// A Boolean value that indicates whether the chain names no version.
    ///
    /// An empty chain migrates a store of any version in a single step. A chain of one version is not empty: it names the current version, to which it leads from no
    /// other, so a store of another version is refused. In CoreStore a chain of one version is empty.
    public var isEmpty: Bool { versions.isEmpty }

    /// The versions that no other version precedes, in the given order.
    public var rootVersions: [String] {
        let followers = Set(next.values)
        return versions.filter { !followers.contains($0) }
    }

    /// The last version; `nil` if the chain is empty or invalid.
    public var leafVersion: String? { problem == nil ? leaves.first : nil }

    /// The versions, each before the one that follows it.
    var inOrder: [String] {
        func distance(_ version: String) -> Int {
            var (version, count) = (version, 0)
            // Limited, because the versions of an invalid chain can form a loop.
            while let follower = next[version], count <= versions.count { (version, count) = (follower, count + 1) }
            return count
        }
        return versions.enumerated().map { (distance: distance($1), index: $0, name: $1) }
            .sorted { ($1.distance, $0.index) < ($0.distance, $1.index) }.map(\.name)
    }

    private var leaves: [String] { versions.filter { next[$0] == nil } }

    /// Returns whether a version is part of the chain.
    public func contains(_ version: String) -> Bool { versions.contains(version) }

    /// Returns the version that follows a version; `nil` for the last one and for an unknown one.
    public func version(after version: String) -> String? { next[version] }

    /// Returns the versions of a loop; `nil` if there is none.
    private func loop() -> [String]? {
        for start in versions {
            var path = [start]
            while let follower = next[path[path.count - 1]] {
                if let first = path.firstIndex(of: follower) { return Array(path[first...]) }
                path.append(follower)
            }
        }
        return nil
    }

    /// Checks that the chain is valid.
    ///
    /// - Throws: `invalidSchema` with the invalid versions.
    func check() throws {
        if let problem { throw StoreError(.invalidSchema, "The migration chain cannot be used: \(problem). Correct the chain.") }
    }
}

extension MigrationChain {
    public static func == (left: MigrationChain, right: MigrationChain) -> Bool {
        left.next == right.next && Set(left.versions) == Set(right.versions) && (left.problem == nil) == (right.problem == nil)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(next)
        hasher.combine(Set(versions))
    }
}

extension MigrationChain: ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral {
    public init(nilLiteral: ()) { self.init() }
    public init(arrayLiteral versions: String...) { self.init(versions) }
    public init(dictionaryLiteral steps: (String, String)...) { self.init(steps) }
    public init(stringLiteral version: String) { self.init([version]) }
}
