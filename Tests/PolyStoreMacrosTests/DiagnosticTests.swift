import Testing

/// Returns a model class with a body.
private func model(_ body: String) -> String { "@Model final class Thing {\n    \(body)\n}" }

@Suite struct DiagnosticTests {
    struct Wrong: Sendable, CustomTestStringConvertible {
        let source: String
        let id: String
        let says: String
        var fixIt: String?
        var testDescription: String { id + ": " + source.prefix(60) }
    }

    static let wrong: [Wrong] = [
        Wrong(source: "@Model struct Thing {}", id: "notAClass", says: "needs a class"),
        Wrong(source: "@Model enum Thing {}", id: "notAClass", says: "needs a class"),
        Wrong(source: "@Model actor Thing {}", id: "notAClass", says: "needs a class"),
        Wrong(source: "@Model class Thing {}", id: "notFinal", says: "must be final", fixIt: "add 'final'"),
        Wrong(source: "@Model public class Thing {}", id: "notFinal", says: "must be final", fixIt: "add 'final'"),
        Wrong(source: "@Model final class Thing<T> {}", id: "generic", says: "cannot be generic"),
        Wrong(source: "@Model @MainActor final class Thing {}", id: "isolated", says: "belongs to no actor"),
        Wrong(source: "@Model(subentities: \"A\") final class Thing {}", id: "finalParent", says: "A cannot inherit from it"),
        Wrong(source: "@Model(subentities: \"A\", \"A\") class Thing {}", id: "subentity", says: "listed twice"),
        Wrong(source: "@Model(subentities: someName) class Thing {}", id: "subentity", says: "as string literals"),
        Wrong(source: "@Model(subentities: \"A\", \"a..b\") class Thing {}", id: "subentity", says: "names of classes"),
        Wrong(source: "@Model(subentities: \"A\", \"a`b\") class Thing {}", id: "subentity", says: "names of classes"),
        Wrong(source: "@Model(subentities: \"A\", \"Thing\") class Thing {}", id: "subentity", says: "Thing lists itself"),
        Wrong(source: "@Model @Model final class Thing {}", id: "repeated", says: "Thing has @Model twice"),
        Wrong(source: "@Model final class Thing: Sendable {}", id: "sendable", says: "Remove Sendable"),
        Wrong(source: "@Model final class Thing: @unchecked Swift.Sendable {}", id: "sendable", says: "Remove @unchecked Swift.Sendable"),
        Wrong(source: "@Model final class Thing: CustomStringConvertible & Sendable {}", id: "sendable", says: "cannot be Sendable"),
        Wrong(source: model("@MainActor var a: Int = 0"), id: "isolatedProperty", says: "a belongs to no actor"),
        Wrong(source: model("@Clamped var a: Int = 0"), id: "wrapper", says: "a cannot have @Clamped"),
        Wrong(source: model("@Wrappers.Clamped<Int> @Attribute var a: Int = 0"), id: "wrapper", says: "Remove @Wrappers.Clamped<Int>"),
        Wrong(source: "@Model(isAbstract: true) final class Thing {}", id: "abstract", says: "list the classes"),
        Wrong(source: "@Model(isAbstract: isSomething, subentities: \"A\") class Thing {}", id: "abstract", says: "written out"),
        Wrong(source: "@Model class Thing: Parent {}", id: "notFinal", says: "lists them: @Model(subentities", fixIt: "add 'final'"),
        Wrong(source: "@Model(entity: \"\") final class Thing {}", id: "entityName", says: "not empty"),
        Wrong(source: "@Model(entity: \"a\\(1)\") final class Thing {}", id: "entityName", says: "string literal"),
        Wrong(source: model("init() {}"), id: "initializer", says: "transaction.create(Into<Thing>())"),
        Wrong(source: model("let a: Int"), id: "constant", says: "a is constant", fixIt: "use 'var'"),
        Wrong(source: model("var a, b: Int"), id: "bindings", says: "a line of its own"),
        Wrong(source: model("var (a, b): (Int, Int)"), id: "pattern", says: "name of its own"),
        Wrong(source: model("var a = .some(1)"), id: "untyped", says: "needs its type"),
        Wrong(source: model("var a = [1]"), id: "untyped", says: "needs its type"),
        Wrong(source: model("var a = Date.now"), id: "untyped", says: "needs its type"),
        Wrong(source: model("var a = make()"), id: "untyped", says: "needs its type"),
        Wrong(source: model("lazy var a: Int = 1"), id: "modifier", says: "cannot be lazy"),
        Wrong(source: model("weak var a: Other?"), id: "modifier", says: "cannot be weak"),
        Wrong(source: model("var a: Int = 1 { didSet {} }"), id: "observers", says: "willSet or didSet"),
        Wrong(source: model("var a: Int!"), id: "implicitlyUnwrapped", says: "implicitly unwrapped", fixIt: "use '?'"),
        Wrong(source: model("@Relationship var a: Other"), id: "relationshipType", says: "must be optional", fixIt: "make it optional"),
        Wrong(
            source: model("@Relationship var a: Other? = nil"), id: "relationshipDefault", says: "no default", fixIt: "remove the default"),
        Wrong(source: model("@Relationship(inverse: \"not`a name\") var a: Other?"), id: "inverse", says: "name of a property of Other"),
        Wrong(source: model("@Relationship(inverse: \\Other.x) var a: Other?"), id: "inverse", says: "string literal"),
        Wrong(source: model("@Attribute @Relationship var a: Other?"), id: "both", says: "not both"),
        Wrong(source: model("@Attribute(.fast) var a: Int = 0"), id: "option", says: ".unique, .indexed"),
        Wrong(source: model("@Attribute(.range(0...1)) var a: String?"), id: "rule", says: "a is String, and only numbers"),
        Wrong(source: model("@Attribute(.length(1...)) var a: Int = 0"), id: "rule", says: "only texts and data have a length"),
        Wrong(source: model("@Attribute(.matches(\"a\")) var a: Data = Data()"), id: "rule", says: "only texts have a pattern"),
        Wrong(source: model("@Attribute(name: \"\") var a: Int = 0"), id: "storedName", says: "not empty"),
        Wrong(source: model("@Transient var a: Int"), id: "transientDefault", says: "needs a default"),
        Wrong(source: model("@Transient @Attribute var a: Int = 1"), id: "transient", says: "not stored"),
        Wrong(source: model("var a: Int = 0\n    var A: Int = 0"), id: "duplicateName", says: "differ in case only"),
        Wrong(source: model("var a: Int = 0\n    @Attribute(name: \"a\") var b: Int = 0"), id: "duplicateName", says: "same stored name"),
        Wrong(source: model("#if DEBUG\n    var a: Int = 0\n    #endif"), id: "conditional", says: "a cannot be stored"),
        Wrong(
            source: model("#if A\n    #else\n    var a, b: Int\n    var c: Int = 0\n    #endif"), id: "conditional",
            says: "c cannot be stored"),
        Wrong(
            source: model("var a: Int = 0\n    #if A\n    #Index<Thing>(\\.a)\n    #endif"), id: "conditional",
            says: "#Index has no effect"),
        Wrong(source: model("var objectID: Int = 0"), id: "reserved", says: "a name of the framework"),
        Wrong(source: model("var _$a: Int = 0"), id: "reserved", says: "a name of the framework"),
        Wrong(source: model("var a: Int = 0\n    #Index<Thing>(\\.a, \\.a)"), id: "index", says: "one twice"),
        Wrong(source: model("var a: Int = 0\n    #Index<Thing>(\\.b)"), id: "index", says: "not a stored attribute"),
        Wrong(source: model("var a: Int = 0\n    #Index<Thing>(\\.a[0])"), id: "index", says: "key paths to properties"),
        Wrong(source: model("var a: Site = Site()\n    #Index<Thing>(\\.a.b, \\.a.b)"), id: "index", says: "one twice"),
        Wrong(source: model("var a: Site = Site()\n    #Index<Thing>(\\.b.c)"), id: "index", says: "not a stored attribute"),
        Wrong(source: model("var a: Site = Site()\n    #Unique<Thing>(\\.a.b)"), id: "index", says: "cannot be unique"),
        Wrong(source: model("@Relationship var a: Other?\n    #Index<Thing>(\\.a?.b)"), id: "index", says: "a property of another object"),
        Wrong(source: model("@Relationship var a: Set<Other>\n    #Unique<Thing>(\\.a)"), id: "index", says: "not a stored attribute"),
        Wrong(source: model("var a: String = \"\"\n    #Search(\\.a, \\.a)"), id: "search", says: "one twice"),
        Wrong(source: model("var a: String = \"\"\n    #Search()"), id: "search", says: "names no attribute"),
        Wrong(source: model("var a: String = \"\"\n    #Search(\\.b)"), id: "search", says: "not a stored attribute"),
        Wrong(source: model("var a: String = \"\"\n    #Search(\\.a.count)"), id: "search", says: "key paths to text attributes"),
        Wrong(source: model("var a: Int = 0\n    #Search(\\.a)"), id: "search", says: "a is Int"),
        Wrong(source: model("var a: [String] = []\n    #Search(\\.a)"), id: "search", says: "a is [String]"),
        Wrong(source: model("@Relationship var a: Other?\n    #Search(\\.a)"), id: "search", says: "is a relationship"),
        Wrong(source: model("var a: String = \"\"\n    #Search(\\.a, weights: [1, 2])"), id: "search", says: "1, not 2"),
        Wrong(source: model("var a: String = \"\"\n    #Search(\\.a, name: text)"), id: "search", says: "string literal"),
        Wrong(source: model("var a: String = \"\"\n    #Search(\\.a)\n    #Search(\\.a)"), id: "search", says: "without a name"),
        Wrong(
            source: model("var a: String = \"\"\n    #Search(\\.a, name: \"x\")\n    #Search(\\.a, name: \"x\")"), id: "search",
            says: "with the name x"),
        Wrong(
            source: model("var a: String = \"\"\n    #if A\n    #Search(\\.a)\n    #endif"), id: "conditional",
            says: "#Search has no effect"),
    ]

    @Test(arguments: wrong)
    func isRefusedWithARemedy(_ wrong: Wrong) async throws {
        let found = try await Self.problems(wrong.source)
        let problem = try #require(found.first { $0.message.contains(wrong.says) }, "found only \(found.map(\.message))")
        #expect(problem.isError)
        #expect(problem.fixIts == (wrong.fixIt.map { [$0] } ?? []))
    }

    static let right = [
        model("var a: String = \"\"\n    var b: String?\n    #Search(\\.a, \\.b, name: \"x\", weights: [1, 2], stemming: .english)"),
        "@Model final class Thing {}",
        "@Model(entity: \"Other name\", originalName: nil) public final class Thing { public var a: Int = 0 }",
        model("static let a = 1"), model("static var b = make()"), model("var a: Int { 1 }"), model("var a: Int { get { 1 } set {} }"),
        model("@Transient var a = 1"), model("@Transient var a: Int?"), model("@Transient let a = make()"),
        model("convenience init(x: Int) {}"),
        model("deinit { }"), model("func f() { var x = 1; x += 1 }"), model("private(set) var a: Int = 0"), model("var a: Optional<Int>"),
        model("@Relationship(deleteRule: .cascade, inverse: nil, required: true) var a: Optional<Other>"),
        model("@Relationship(min: 1, max: 3) var a: Set<Other>"),
        model("@Attribute(.unique, .indexed, name: \"x y\", originalName: \"z\") var a: Swift.Int"),
        model("var a: [String: [Int]] = [:]\n    @Relationship var b: Other?\n    #Index<Thing>(\\.a, \\.b)"),
        model("var a: Site = Site()\n    var b: Site?\n    #Index<Thing>(\\.a.b, \\.b?.c?.d, \\.a)"),
        model("var `default`: Int = 1"),
        model("var `a b`: Int = 1\n    var `Type`: Int = 1\n    @Relationship(inverse: \"a b\") var `c-d`: Other?"),
        model("@available(*, deprecated) var a: Int = 0"), model("@Transient @Clamped var a: Int = 0"),
        "@Model final class Thing: Named, Model { var name: String = \"\" }",
        "@Model(subentities: \"`A B`\", \"Outer.a b\") class Thing {}",
        model("var state: Int = 1\n    var load: Int = 1"),
        model("#if DEBUG\n    @Transient var a: Int = 0\n    static let b = 1\n    var c: Int { 1 }\n    func d() {}\n    #endif"),
        model("@Attribute(.unique, .length(1...20), .matches(\"[a-z]+\")) var a: String"),
        model("@Attribute(.range(0...150)) var a: Int? \n @Attribute(.range(Rank.low.rawValue...)) var b: Rank = .low"),
        "@Model(isAbstract: true, subentities: \"A\", \"Outer.B\") class Thing {}",
        "@Model(subentities: \"A\") public class Thing: Parent {}",
        "@Model final class Thing: Parent { var a: Int = 0\n    #Index<Thing>(\\.a, \\.inherited) }",
    ]

    @Test(arguments: right)
    func isAccepted(_ source: String) async throws { #expect(try await Self.problems(source).map(\.message) == []) }

    /// The macro does not see whether an extended type is generic; the compiler does.
    @Test func aClassInAnExtensionOfAGenericTypeIsReportedAtItsLine() async throws {
        let source = "import PolyStore\nstruct Outer<T> {}\nextension Outer {\n@Model\nfinal class Thing {\nvar a: Int = 0\n}\n}\n"
        let found = try await Compilation(of: ["test.swift": source]).diagnostics.filter(\.isError)
        #expect(!found.isEmpty)
        for diagnostic in found { #expect(diagnostic.file == "test.swift" && diagnostic.line == 5, "\(diagnostic)") }
    }

    // MARK: The compiler

    /// Declarations that the sources use.
    private static let declarations = """
        import PolyStore
        let someName = "A"
        let isSomething = true
        func make() -> Int { 1 }
        protocol Named { var name: String { get set } }
        @propertyWrapper struct Clamped { var wrappedValue: Int }
        @Model final class Other { var x: Int = 0 }
        @Model(subentities: "Thing") class Parent { var inherited: Int = 0 }
        """

    /// One run of the compiler for all sources, each in a file and a name space of its own.
    private static let compilation = Task {
        var files = ["declarations.swift": declarations]
        for (index, source) in sources.enumerated() {
            files[file(index)] = "import Foundation\nimport PolyStore\nenum \(space(index)) {\n\(source)\n}\n"
        }
        return try await Compilation(of: files)
    }

    private static let sources = wrong.map(\.source) + right

    private static func space(_ index: Int) -> String { "Source\(index)" }
    private static func file(_ index: Int) -> String { space(index) + ".swift" }

    /// Returns the diagnostics of the macros for a source.
    private static func problems(_ source: String) async throws -> [CompilerDiagnostic] {
        let compilation = try await compilation.value
        let index = try #require(sources.firstIndex(of: source))
        try #require(
            compilation.expansions.contains { $0.macro == "Model" && $0.declaration == "\(space(index)).Thing" }, "No macro was expanded.")
        return compilation.diagnostics.filter { $0.isFromMacro && $0.file == file(index) }
    }
}
