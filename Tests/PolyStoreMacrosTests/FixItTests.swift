import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import PolyStoreMacros

/// The source after fix-its are applied.
@Suite struct FixItTests {
    @Test func finalIsAdded() {
        expectExpansion(
            "@Model\npublic class Thing {\n}", expandedWithStubs("public class Thing", name: "Thing", access: "public "),
            diagnostics: [
                DiagnosticSpec(
                    message:
                        "A model class must be final: objects are made by the framework, which cannot know a subclass. One that others inherit from lists them: @Model(subentities: \"…\").",
                    line: 2, column: 8,
                    fixIts: [FixItSpec(message: "add 'final'")])
            ], applying: ["add 'final'"], fixed: "@Model\npublic final class Thing {\n}")
    }

    @Test func aRelationshipBecomesOptional() {
        expectExpansion(
            "@Model\nfinal class Thing {\n    @Relationship var a: Other\n}",
            expandedWithStubs("final class Thing", "\n    var a: Other", name: "Thing"),
            diagnostics: [
                DiagnosticSpec(
                    message: "a must be optional (to-one), a Set or an array (to-many): the object at the other end may be deleted.",
                    line: 3,
                    column: 26,
                    fixIts: [FixItSpec(message: "make it optional")])
            ], applying: ["make it optional"], fixed: "@Model\nfinal class Thing {\n    @Relationship var a: Other?\n}")
    }
}
