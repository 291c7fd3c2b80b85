import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import Testing

/// Forms, previews and commits of objects that exist, on every engine.
@Suite struct EditingTests {
    @Test(arguments: Engine.available)
    func formShowsValuesRulesAndTargets(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        let form = try #require(try await browser.form(of: red))
        let fields = Dictionary(uniqueKeysWithValues: form.fields.map { ($0.name, $0) })
        #expect(form.title == "Red" && form.entity == "Club" && form.object == red)
        #expect(
            form.fields.map(\.name) == [
                "name", "motto", "founded", "budget", "crest", "settings", "isOpen", "players", "contracts", "fans", "songs",
            ])
        let name = try #require(fields["name"])
        #expect(name.text == "Red" && name.isUnique && name.isRequired && !name.isNull)
        #expect(name.hints.contains { $0.contains("1...40") })
        #expect(fields["founded"]?.isNull == true && fields["founded"]?.isRequired == false)
        #expect(fields["budget"]?.text == "12.5" && fields["isOpen"]?.choices == ["true", "false"] && fields["settings"]?.text == "[]")
        #expect(fields["songs"]?.targets.map(\.title) == ["One", "Two", "Three"])
        #expect(fields["songs"]?.kind == .toMany(destination: "Song", isOrdered: true) && fields["songs"]?.listsAllTargets == true)
        #expect(Set(fields["players"]?.targets.map(\.entity) ?? []) == ["Player", "Keeper"] && fields["players"]?.targetCount == 4)
        let keeper = try #require(try await browser.form(of: browser.reference("Player", "Kim")))
        #expect(keeper.entity == "Keeper")
        #expect(keeper.fields.map(\.name) == ["name", "number", "club", "saves", "licence"])
        #expect(keeper.fields.map(\.isRequired) == [true, true, true, true, true])
        #expect(keeper.fields[3].text == "18446744073709551615" && keeper.fields[2].targets.map(\.title) == ["Red"])
        #expect(try await browser.form(of: ObjectReference(entity: "Club", rowID: 999)) == nil)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func previewNamesOldAndNewValuesAndTheOtherObjects(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let ann = try await browser.reference("Player", "Ann")
        let input = FormInput(["name": .text("Anna"), "number": .text("1"), "club": .text("Blue")])
        let outcome = try await browser.preview(ObjectEdit(.update(ann), input: input))
        let preview = try #require(outcome.preview)
        #expect(outcome.isAccepted)
        #expect(
            Set(preview.lines) == [
                "~ Player Anna: name Ann → Anna, club Red → Blue", "~ Club Red: players -Anna", "~ Club Blue: players +Anna",
            ])
        #expect(preview.lines.first?.hasPrefix("~ Player") == true && preview.objects.map(\.isSubject) == [true, false, false])
        #expect(Set(preview.counts.map { "\($0.kind) \($0.entity) \($0.count)" }) == ["updated Club 2", "updated Player 1"])
        #expect(try await browser.text(ann, "name") == "Ann", "a preview writes nothing")
        let none = try await browser.preview(ObjectEdit(.update(ann), input: FormInput(["name": .text("Ann"), "club": .text("Red")])))
        #expect(none.isAccepted && none.preview?.isEmpty == true)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func commitWritesWhatThePreviewShowed(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        let form = try #require(try await browser.form(of: red))
        var edit = ObjectEdit(
            .update(red),
            input: FormInput([
                "name": .text("Pink"), "motto": .null, "founded": .text("1999-12-31"), "budget": .text("-0.10"), "crest": .bytes([0, 1]),
                "settings": .text(#"["a"]"#), "isOpen": .text("false"), "fans": .members(.init(added: [], removed: ["1"])),
            ]), seen: form.seen)
        let preview = try #require(try await browser.preview(edit).preview)
        edit.confirmed = preview.digest
        let outcome = try await browser.commit(edit)
        #expect(outcome.isCommitted && outcome.preview == preview, "\(outcome)")
        #expect(
            try await browser.texts(red, "name", "motto", "crest", "settings", "fans", "isOpen") == [
                "Pink", nil, "<2 bytes>", #"["a"]"#, "2", "false",
            ])
        #expect(try await browser.commit(edit).conflict != nil, "the form is that of another state now")
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func commitIsRefusedIfTheObjectChangedMeanwhile(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        let form = try #require(try await browser.form(of: red))
        var edit = ObjectEdit(.update(red), input: FormInput(["name": .text("Pink")]), seen: form.seen)
        edit.confirmed = try await browser.preview(edit).preview?.digest
        // Another object can be added to a relationship that the form does not change.
        try await league.changeElsewhere(browser) { transaction in
            let other = try transaction.fetchOne(EntityQuery("Club").where("name == 'Red'"))
            try transaction.create("Fan", ["name": "Fox", "club": other.map { .objectID($0.id) }])
        }
        #expect(try await browser.preview(edit).isAccepted)
        try await league.changeElsewhere(browser) { transaction in
            try transaction.fetchOne(EntityQuery("Club").where("name == 'Red'"))?.set("motto", to: "Walk")
        }
        for outcome in [try await browser.preview(edit), try await browser.commit(edit)] {
            let conflict = try #require(outcome.conflict, "\(outcome)")
            #expect(!conflict.isDeleted)
            let name = try #require(conflict.properties.first { $0.name == "name" })
            #expect(name.stored == "Red" && name.entered == "Pink" && !name.wasChanged && name.wasEntered)
            let motto = try #require(conflict.properties.first { $0.name == "motto" })
            #expect(motto.stored == "Walk" && motto.wasChanged && !motto.wasEntered)
            #expect(conflict.properties.count == 2)
        }
        #expect(try await browser.text(red, "name") == "Red")
        // Without a form that it belongs to, the same entry is accepted.
        edit.seen = nil
        edit.confirmed = nil
        #expect(try await browser.commit(edit).isCommitted)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func commitIsRefusedIfTheObjectWasDeletedMeanwhile(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let fan = try await browser.reference("Fan", "Fay")
        let form = try #require(try await browser.form(of: fan))
        try await league.changeElsewhere(browser) { _ = try $0.deleteAll(EntityQuery("Fan").where("name == 'Fay'")) }
        let edit = ObjectEdit(.update(fan), input: FormInput(["name": .text("Eve")]), seen: form.seen)
        #expect(try await browser.preview(edit).conflict?.isDeleted == true)
        #expect(try await browser.commit(edit).conflict?.isDeleted == true)
        #expect(try await browser.commit(ObjectEdit(.delete(fan))).conflict?.isDeleted == true)
        #expect(try await browser.form(of: fan) == nil)
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func mistakesNameTheirProperty(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let (red, kim) = (try await browser.reference("Club", "Red"), try await browser.reference("Player", "Kim"))
        let cases: [(ObjectReference, String, FormInput.Entry, String)] = [
            (red, "name", .text("Blue"), "unique"), (red, "name", .text(""), "1...40"), (red, "name", .null, "required"),
            (red, "budget", .text("much"), "decimal number"), (red, "founded", .text("yesterday"), "date"),
            (red, "settings", .text("{"), "JSON"), (red, "crest", .text("zz"), "hex:"), (red, "nothing", .text(""), "no property"),
            (red, "motto", .bytes([0xff, 0xfe]), "UTF-8"), (red, "motto", .escaped("\\q"), "backslash"),
            (red, "players", .text("1"), "row id"), (red, "songs", .members(.init(order: ["1"])), "each once"),
            (red, "players", .members(.init(order: ["1"])), "no order"), (red, "songs", .members(.init(added: ["Four"])), "no Song"),
            (red, "songs", .members(.init(added: ["99"])), "no Song 99"), (kim, "number", .text("40000"), "32767"),
            (kim, "club", .text("0"), "no Club 0"), (kim, "club", .text(""), "required"), (kim, "club", .null, "required"),
            (kim, "club", .text("Green"), "no Club"), (kim, "licence", .null, "required"), (kim, "saves", .text("-1"), "from 0"),
        ]
        for (reference, property, entry, part) in cases {
            let edit = ObjectEdit(.update(reference), input: FormInput([property: entry]))
            for outcome in [try await browser.preview(edit), try await browser.commit(edit)] {
                let mistakes = outcome.preview?.mistakes ?? []
                #expect(outcome.isRefused && mistakes.count == 1, "\(property) \(entry): \(outcome)")
                #expect(mistakes.first?.property == (property == "nothing" ? nil : property), "\(mistakes)")
                #expect(mistakes.first?.message.localizedCaseInsensitiveContains(part) == true, "\(part): \(mistakes)")
                #expect(mistakes.first?.message.hasSuffix(".") == true, "\(mistakes)")
            }
        }
        let several = FormInput(["name": .text("Blue"), "budget": .text("x"), "founded": .text("y")])
        #expect(try await browser.preview(ObjectEdit(.update(red), input: several)).preview?.mistakes.count ?? 0 >= 2)
        #expect(try await browser.text(red, "name") == "Red")
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func targetsAreFoundByRowIDAndName(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let (red, bob) = (try await browser.reference("Club", "Red"), try await browser.reference("Player", "Bob"))
        let blue = try await browser.reference("Club", "Blue")
        for text in ["Blue", "\(blue.rowID)", " \(blue.rowID) ", "Club \(blue.rowID)"] {
            let preview = try await browser.preview(ObjectEdit(.update(bob), input: FormInput(["club": .text(text)]))).preview
            #expect(preview?.lines.first == "~ Player Bob: club Red → Blue", "\(text): \(preview.debugDescription)")
        }
        // Two objects with one name.
        try await browser.stack.perform { _ = try $0.create("Fan", ["name": "Fay"]) }
        let add = ObjectEdit(.update(red), input: FormInput(["fans": .members(.init(added: ["Fay"]))]))
        let mistake = try await browser.preview(add).preview?.mistakes.first?.message
        #expect(mistake?.contains("Several Fan") == true, "\(mistake ?? "none")")
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func orderedRelationshipsAreArranged(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let (red, blue) = (try await browser.reference("Club", "Red"), try await browser.reference("Club", "Blue"))
        let ids = try await browser.text(red, "songs")?.split(separator: " ").map(String.init) ?? []
        let order = FormInput(["songs": .members(.init(order: [ids[2], ids[0], ids[1]]))])
        let arranged = try await browser.commit(ObjectEdit(.update(red), input: order))
        #expect(arranged.preview?.lines == ["~ Club Red: songs One, Two, Three → Three, One, Two"], "\(arranged)")
        #expect(try await browser.text(red, "songs") == "\(ids[2]) \(ids[0]) \(ids[1])")
        let changes = FormInput(["songs": .members(.init(added: ["Two"], removed: ["One"]))])
        let changed = try await browser.commit(ObjectEdit(.update(red), input: changes))
        #expect(changed.preview?.lines.first == "~ Club Red: songs Three, One, Two → Three, Two -One", "\(changed)")
        #expect(changed.preview?.lines.contains("~ Song One: clubs -Red") == true)
        let added = try await browser.commit(
            ObjectEdit(.update(blue), input: FormInput(["songs": .members(.init(added: ["Three", "One"]))])))
        #expect(added.isCommitted)
        #expect(try await browser.text(blue, "songs") == "\(ids[2]) \(ids[0])")
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func textsThatFormsChangeAreKeptAndEdited(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        let texts =
            ["שלום <b>&\"'", "a\r\nb", "tab\tnewline\n", "e\u{301}", "\u{202e}left"] + (engine == .postgresql ? [] : ["nul\u{0}\u{0}end\\"])
        for text in texts {
            let written = try await browser.commit(ObjectEdit(.update(red), input: FormInput(["motto": .escaped(Self.escaped(text))])))
            #expect(written.isCommitted, "\(written)")
            let form = try #require(try await browser.form(of: red))
            let field = try #require(form.fields.first { $0.name == "motto" })
            // What a browser sends back for a form that was not changed.
            let entry: FormInput.Entry = field.isEscaped ? .escaped(field.text) : .text(field.text)
            let same = try await browser.commit(ObjectEdit(.update(red), input: FormInput(["motto": entry]), seen: form.seen))
            #expect(same.isCommitted && same.preview?.isEmpty == true, "\(same)")
            #expect(try await browser.text(red, "motto").map { Array($0.utf8) } == Array(text.utf8))
        }
        // Texts that Swift takes for equal.
        _ = try await browser.commit(ObjectEdit(.update(red), input: FormInput(["motto": .text("e\u{301}")])))
        let composed = try await browser.commit(ObjectEdit(.update(red), input: FormInput(["motto": .text("\u{e9}")])))
        #expect(composed.preview?.objects.count == 1, "\(composed)")
        #expect(try await browser.text(red, "motto").map { Array($0.utf8) } == [0xc3, 0xa9])
        try await browser.close()
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { $0 == "\\" ? "\\\\" : "\\u{\(String($0.value, radix: 16))}" }.joined()
    }

    @Test(arguments: Engine.available)
    func largeValuesAreNotInTheFormAndAreKept(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        let red = try await browser.reference("Club", "Red")
        let large = [UInt8](repeating: 1, count: FieldText.limit + 1)
        #expect(try await browser.commit(ObjectEdit(.update(red), input: FormInput(["crest": .bytes(large)]))).isCommitted)
        let form = try #require(try await browser.form(of: red))
        let field = try #require(form.fields.first { $0.name == "crest" })
        #expect(field.sizeOfOmitted == large.count && field.text.isEmpty && !field.isNull)
        let edit = ObjectEdit(.update(red), input: FormInput(["motto": .text("Go")]), seen: form.seen)
        #expect(try await browser.commit(edit).preview?.lines == ["~ Club Red: motto Run → Go"])
        #expect(try await browser.text(red, "crest") == "<\(large.count) bytes>")
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func storesThatAreOpenForReadingAreNotChanged(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser(writes: false)
        let red = try await browser.reference("Club", "Red")
        #expect(try await browser.form(of: red)?.fields.count == 11)
        for edit in [ObjectEdit(.delete(red)), ObjectEdit(.create("Fan")), ObjectEdit(.update(red))] {
            await #expect { try await browser.preview(edit) } throws: { ($0 as? StoreError)?.code == .readOnly }
            await #expect { try await browser.commit(edit) } throws: { ($0 as? StoreError)?.code == .readOnly }
        }
        await #expect { try await browser.form(creating: "Fan") } throws: { ($0 as? StoreError)?.code == .readOnly }
        try await browser.close()
    }
}
