import Testing

/// The source after fix-its are applied.
@Suite struct FixItTests {
    @Test func finalIsAdded() async throws {
        try await expectExpansion(
            "@Model\npublic class Thing {\n}", expandedWithStubs("public class Thing", name: "Thing", access: "public "),
            diagnostics: [
                ExpectedDiagnostic(
                    message:
                        "A model class must be final: objects are made by the framework, which cannot know a subclass. One that others inherit from lists them: @Model(subentities: \"…\").",
                    line: 2, column: 8,
                    fixIts: ["add 'final'"])
            ], applying: ["add 'final'"], fixed: "@Model\npublic final class Thing {\n}")
    }

    @Test func aRelationshipBecomesOptional() async throws {
        try await expectExpansion(
            "@Model\nfinal class Thing {\n    @Relationship var a: Other\n}",
            expandedWithStubs("final class Thing", "\n    var a: Other", name: "Thing"), beside: "@Model final class Other {}",
            diagnostics: [
                ExpectedDiagnostic(
                    message: "a must be optional (to-one), a Set or an array (to-many): the object at the other end may be deleted.",
                    line: 3,
                    column: 26,
                    fixIts: ["make it optional"])
            ], applying: ["make it optional"], fixed: "@Model\nfinal class Thing {\n    @Relationship var a: Other?\n}")
    }
}
