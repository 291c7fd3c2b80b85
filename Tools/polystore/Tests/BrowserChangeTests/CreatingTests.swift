import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import Testing

/// The creation and the deletion of objects, on every engine.
@Suite struct CreatingTests {
    @Test(arguments: Engine.available)
    func newObjectsHaveTheDefaultsOfTheirEntity(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let form = try await browser.form(creating: "Visit")
        #expect(form.object == nil && form.fields.map(\.name) == ["at", "token", "club"])
        #expect(form.fields[0].text.hasPrefix("20") && UUID(uuidString: form.fields[1].text) != nil)
        var edit = ObjectEdit(.create("Visit"), input: FormInput(["club": .text("Red")]))
        let preview = try #require(try await browser.preview(edit).preview)
        #expect(preview.mistakes.isEmpty && preview.objects.first?.kind == .inserted && preview.objects.count == 1)
        edit.confirmed = preview.digest
        // The time and the id are others, which a confirmation does not name.
        guard case .committed(let created?, _) = try await browser.commit(edit) else {
            Issue.record("not committed")
            return
        }
        #expect(try await browser.text(created, "club")?.hasPrefix("Club ") == true)
        #expect(try await browser.count("Visit") == 2)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func objectsOfHierarchiesAreCreatedByTheirSubentity(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let paper = try await browser.form(creating: "Paper")
        #expect(paper.fields.isEmpty && paper.concreteEntities == ["Contract"])
        #expect(try await browser.preview(ObjectEdit(.create("Paper"))).preview?.mistakes.first?.message.contains("Contract") == true)
        let keeper = try await browser.form(creating: "Keeper")
        #expect(keeper.fields.map(\.name) == ["name", "number", "club", "saves", "licence"])
        let missing = try await browser.preview(ObjectEdit(.create("Keeper"), input: FormInput(["name": .text("Zed")])))
        #expect(missing.isRefused)
        #expect(Set(missing.preview?.mistakes.map(\.property) ?? []) == ["club", "licence"], "\(missing)")
        let input = FormInput(["name": .text("Zed"), "club": .text("Blue"), "licence": .text("B"), "saves": .text("3")])
        let outcome = try await browser.commit(ObjectEdit(.create("Keeper"), input: input))
        guard case .committed(let created?, let preview) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(created.entity == "Keeper" && preview.objects.contains { $0.object.title == "Blue" && $0.kind == .updated })
        #expect(try await browser.text(created, "saves") == "3")
        #expect(try await browser.form(of: created)?.title == "Zed")
        await #expect { try await browser.form(creating: "Trainer") } throws: { ($0 as? StoreError)?.code == .storeNotFound }
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func uniqueValuesOfNewObjectsAreChecked(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let edit = ObjectEdit(.create("Song"), input: FormInput(["title": .text("One")]))
        for outcome in [try await browser.preview(edit), try await browser.commit(edit)] {
            #expect(outcome.isRefused && outcome.preview?.mistakes.map(\.property) == ["title"], "\(outcome)")
        }
        #expect(try await browser.count("Song") == 3)
        try await browser.close()
    }

    // MARK: Deleting

    @Test(arguments: Engine.available)
    func deletionShowsWhatItsRulesTakeAlong(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        var edit = ObjectEdit(.delete(red), seen: try await browser.form(of: red)?.seen)
        let outcome = try await browser.preview(edit)
        let preview = try #require(outcome.preview)
        #expect(outcome.isAccepted, "\(outcome)")
        #expect(preview.objects.first?.isSubject == true && preview.objects.first?.object.title == "Red")
        #expect(preview.cascades.map { "\($0.entity) \($0.count)" } == ["Keeper 1", "Player 3"], "\(preview.counts)")
        #expect(
            Set(preview.objects.filter { object in object.kind == .deleted }.map(\.object.title)) == ["Red", "Ann", "Bob", "Cid", "Kim"])
        let updated = Set(preview.objects.filter { $0.kind == .updated }.map(\.object.entity))
        #expect(updated == ["Fan", "Song", "Visit"], "\(preview.lines)")
        let fan = preview.lines.first { line in line.hasPrefix("~ Fan Fay: club") }
        #expect(fan != nil, "\(preview.lines)")
        #expect(try await browser.counts("Player", "Club") == [4, 2], "a preview writes nothing")
        edit.confirmed = preview.digest
        #expect(try await browser.commit(edit).isCommitted)
        #expect(try await browser.counts("Player", "Club", "Fan") == [0, 1, 2])
        #expect(try await browser.text(browser.reference("Fan", "Fay"), "club") == nil)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func denialNamesTheObjectsThatRefuseTheDeletion(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let blue = try await browser.reference("Club", "Blue")
        for outcome in [try await browser.preview(ObjectEdit(.delete(blue))), try await browser.commit(ObjectEdit(.delete(blue)))] {
            let mistake = try #require(outcome.preview?.mistakes.first, "\(outcome)")
            #expect(outcome.isRefused && mistake.isDenial && mistake.message.contains("deny"))
        }
        #expect(try await browser.count("Club") == 2)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func deletionIsRefusedIfItTakesMoreAlongThanThePreviewShowed(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        var edit = ObjectEdit(.delete(red))
        edit.confirmed = try await browser.preview(edit).preview?.digest
        try await league.changeElsewhere(browser) { transaction in
            let club = try transaction.fetchOne(EntityQuery("Club").where("name == 'Red'"))
            try transaction.create("Player", ["name": "Dan", "club": club.map { .objectID($0.id) }])
        }
        let outcome = try await browser.commit(edit)
        let now = try #require(outcome.conflict?.preview, "\(outcome)")
        #expect(now.cascades.map { "\($0.entity) \($0.count)" } == ["Keeper 1", "Player 4"])
        #expect(try await browser.count("Player") == 5)
        edit.confirmed = now.digest
        #expect(try await browser.commit(edit).isCommitted)
        // Values of the object itself count too.
        let blue = try await browser.reference("Fan", "Fay")
        var second = ObjectEdit(.delete(blue))
        second.confirmed = try await browser.preview(second).preview?.digest
        try await league.changeElsewhere(browser) { try $0.fetchOne(EntityQuery("Fan").where("name == 'Fay'"))?.set("name", to: "Eve") }
        #expect(try await browser.commit(second).conflict?.preview != nil)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func deletionOfManyObjectsIsDescribedInPart(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        try await browser.stack.perform { transaction in
            let club = try transaction.fetchOne(EntityQuery("Club").where("name == 'Red'"))
            let target = club.map { QueryValue.objectID($0.id) }
            for number in 0..<600 {
                try transaction.create("Player", ["name": .text("P\(number)"), "club": target])
                try transaction.create("Fan", ["name": .text("F\(number)"), "club": target])
            }
        }
        let red = try await browser.reference("Club", "Red")
        let form = try #require(try await browser.form(of: red))
        let fans = try #require(form.fields.first { $0.name == "fans" })
        #expect(fans.targets.isEmpty && fans.targetCount == 602 && !fans.listsAllTargets)
        var edit = ObjectEdit(.delete(red), seen: form.seen)
        let preview = try #require(try await browser.preview(edit).preview)
        #expect(preview.objects.count <= ChangePreview.limit && preview.objects.first?.object.title == "Red")
        #expect(preview.cascades.map { "\($0.entity) \($0.count)" } == ["Keeper 1", "Player 603"])
        let fansCount = preview.counts.first { count in count.kind == .updated && count.entity == "Fan" }
        #expect(fansCount?.count == 602, "\(preview.counts)")
        edit.confirmed = preview.digest
        #expect(try await browser.commit(edit).isCommitted)
        #expect(try await browser.count("Player") == 0)
        try await browser.close()
    }
}
