import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import Testing

/// What a preview promises, and what makes a form a change, on every engine.
@Suite struct PreviewTests {
    @Test(arguments: Engine.available)
    func deletionIsRefusedIfAnObjectDeletedAlongChangedMeanwhile(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        var edit = ObjectEdit(.delete(red))
        edit.confirmed = try await browser.preview(edit).preview?.digest
        #expect(try await browser.preview(edit).preview?.digest == edit.confirmed)
        for (entity, name, property, value) in [
            ("Player", "Bob", "number", QueryValue.integer(9)), ("Keeper", "Kim", "licence", .text("B2")),
        ] {
            try await league.changeElsewhere(browser) { transaction in
                try transaction.fetchOne(EntityQuery(entity).where("name == %@", name))?.set(property, to: value)
            }
            let outcome = try await browser.commit(edit)
            let shown = try #require(outcome.conflict?.preview, "\(outcome)")
            edit.confirmed = shown.digest
        }
        #expect(try await browser.commit(edit).isCommitted)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func relationshipsThatAFormLeavesAloneAreNoChanges(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        let form = try #require(try await browser.form(of: red))
        let songs = try await browser.text(red, "songs") ?? ""
        func edit(_ name: String, order: String) -> ObjectEdit {
            let posted = [("value:name", name), ("add:players", ""), ("add:fans", "\r\n"), ("add:songs", " "), ("order:songs", order)]
            return ObjectEdit(.update(red), input: FormInput(posted: posted.map { (name: $0, value: $1) }), seen: form.seen)
        }
        try await league.changeElsewhere(browser) { transaction in
            let other = try #require(try transaction.fetchOne(EntityQuery("Club").where("name == 'Red'")))
            try transaction.create("Fan", ["name": "Fox", "club": .objectID(other.id)])
            try other.insert([try transaction.create("Song", ["title": "Four"])], into: "songs")
        }
        let reversed = songs.split(separator: " ").reversed().joined(separator: " ")
        let conflict = try #require(try await browser.preview(edit("Pink", order: reversed)).conflict)
        #expect(conflict.properties.contains { $0.name == "songs" && $0.wasChanged && $0.wasEntered })
        let outcome = try await browser.commit(edit("Pink", order: songs))
        #expect(outcome.isCommitted && outcome.preview?.lines == ["~ Club Pink: name Red → Pink"], "\(outcome)")
        #expect(try await browser.text(red, "songs")?.split(separator: " ").count == 4)
        try await browser.close()
    }
}
