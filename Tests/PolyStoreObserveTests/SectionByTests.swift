import PolyStore
import TestSupport
import Testing

/// What a list can be divided by, and the errors of what it cannot be divided by.
@Suite struct SectionByTests {
    /// A division that is refused, and parts of the message.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let section: SectionBy<Worker>
        let attribute: String?
        let parts: [String]

        static let all = [
            Refused(
                testDescription: "to-one", section: SectionBy(\.team), attribute: "team",
                parts: ["Worker.team leads to an object of Team", "SectionBy(\"team.title\")"]),
            Refused(
                testDescription: "to-one by name", section: SectionBy("team") { _ in "" }, attribute: "team",
                parts: ["Worker.team leads to an object of Team", "SectionBy(\"team.title\")"]),
            Refused(
                testDescription: "id by name", section: SectionBy("objectID"), attribute: "objectID",
                parts: ["Worker.objectID leads to an object of Worker", "SectionBy(\"name\")"]),
            Refused(
                testDescription: "to-many", section: SectionBy(\.friends), attribute: "friends",
                parts: ["Worker.friends leads to many objects", "in one section", "SectionBy(\"friends.@count\")"]),
            Refused(
                testDescription: "attribute of many", section: SectionBy("team.workers.name"), attribute: "name",
                parts: ["Worker.team.workers.name leads to many objects", "SectionBy(\"team.workers.@count\")"]),
            Refused(
                testDescription: "Codable value", section: SectionBy(\.home), attribute: "home",
                parts: ["Worker.home is a Codable value", "attribute of its own"]),
            Refused(
                testDescription: "optional Codable value by name", section: SectionBy("holiday"), attribute: "holiday",
                parts: ["Worker.holiday is a Codable value", "attribute of its own"]),
            Refused(
                testDescription: "computed property", section: SectionBy(\.label), attribute: nil,
                parts: ["Worker", "a key path to String", "is not a stored attribute", "SectionBy(\\.name) {"]),
            Refused(
                testDescription: "property of a value", section: SectionBy(\.name.count), attribute: nil,
                parts: ["Worker", "a key path to Int", "is not a stored attribute", "SectionBy(\\.name) {"]),
            Refused(
                testDescription: "unknown name", section: SectionBy("agee"), attribute: nil, parts: ["agee", "age"]),
        ]
    }

    @Test(arguments: Backend.forObjectLayer, Refused.all)
    @MainActor func divisionsByOtherThanOneStoredValueAreRefused(_ backend: Backend, _ refused: Refused) async throws {
        let workplace = try Workplace(backend)
        try workplace.insert(("Jane", 30), ("Joe", 40))
        let view = workplace.stack.view
        let source = From<Worker>().orderBy(.ascending(\.name))
        var errors: [StoreError?] = [
            expectError(.invalidPredicate) { _ = try view.monitorSectionedList(source, refused.section) },
            expectError(.invalidPredicate) { _ = try view.publishList(source, sectionBy: refused.section) },
            expectError(.invalidPredicate) { _ = try LiveList(view, source, sectionBy: refused.section) },
        ]
        do {
            for try await _ in workplace.stack.snapshots(of: source, sectionBy: refused.section) { Issue.record("a list was delivered") }
        } catch { errors.append(error as? StoreError) }
        do {
            _ = try await view.loadListMonitor(source, sectionBy: refused.section)
            Issue.record("a list was loaded")
        } catch { errors.append(error as? StoreError) }
        for error in errors {
            let error = try #require(error)
            #expect(error.code == .invalidPredicate && error.entity == "Worker", "\(error)")
            if let attribute = refused.attribute { #expect(error.attribute == attribute) }
            for part in refused.parts { #expect(error.message.contains(part), "\(part): \(error.message)") }
        }
    }

    /// The values that the errors above name as alternatives.
    @Test(arguments: Backend.forObjectLayer)
    @MainActor func valuesThatReplaceRelationshipsDivideAList(_ backend: Backend) throws {
        let workplace = try Workplace(backend)
        try workplace.stack.performAndWait { transaction throws in
            let team = try transaction.create(Into<Team>()) { $0.title = "Red" }
            let jane = try transaction.create(Into<Worker>()) { ($0.name, $0.team, $0.mood) = ("Jane", team, .busy) }
            try transaction.create(Into<Worker>()) { ($0.name, $0.friends) = ("Joe", [jane]) }
            try transaction.create(Into<Worker>()) { $0.name = "Sue" }
        }
        func sections(_ section: SectionBy<Worker>) throws -> [String] {
            try workplace.stack.view.monitorSectionedList(From<Worker>().orderBy(.ascending(\.name)), section).sections.map(\.name)
        }
        #expect(try sections(SectionBy("team.title")) == ["", "Red"])
        #expect(try sections(SectionBy(\.team?.title)) == ["", "Red"])
        #expect(try sections(SectionBy("friends.@count")) == ["0", "1"])
        #expect(try sections(SectionBy(\.friends.count) { "\($0) friends" }) == ["0 friends", "1 friends"])
        #expect(try sections(SectionBy(\.name) { String($0.prefix(1)) }) == ["J", "S"])
        #expect(try sections(SectionBy(\.mood)) == ["busy", "calm"])
    }
}
