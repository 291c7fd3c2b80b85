import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import StoreTesting
import Testing

/// Entities and properties with names that mean something in conditions, in HTML and in names of inputs.
@Suite struct HostileNameTests {
    private static let entity = "Odd \"one\" <script>alert(1)</script>"
    private static let names = [
        "first name", "a.b", "any", "it's", "50%", "naïve", "#x", "count", "x as y", "back\\slash", "comma, too", "(", "日本", "1st",
        "value:name", "<b>", "null", "مرحبا", "SELF",
    ]

    private static func schema() -> SchemaDescription {
        let attributes = names.map { PropertyDescription.attribute(AttributeDescription(name: $0, type: .string, isOptional: true)) }
        let next = PropertyDescription.relationship(RelationshipDescription(name: "next, one", destination: entity, isToMany: false))
        let all = PropertyDescription.relationship(
            RelationshipDescription(name: "all \"of\" them", destination: entity, isToMany: true, isOrdered: true))
        return SchemaDescription(name: "Odd 1", entities: [EntityDescription(name: entity, properties: attributes + [next, all])])
    }

    @Test(arguments: Engine.available)
    func objectsWithHostileNamesAreEdited(_ engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let configuration = try League.engines.configuration(engine.url(folder, "odd"))
        try configuration.open(schema: ResolvedSchema(Self.schema()), configurationName: nil, logger: SilentLogger()).close()
        let browser = try await BrowserStore.open(configuration, forWriting: true, logger: SilentLogger())
        let values = Self.names.map { (name: FormInput.Input.value.name($0), value: "1 \($0)") }
        let created = try await browser.commit(ObjectEdit(.create(Self.entity), input: FormInput(posted: values)))
        guard case .committed(let object?, let preview) = created else {
            Issue.record("\(created)")
            return
        }
        #expect(preview.objects.first?.properties.count == Self.names.count)
        let form = try #require(try await browser.form(of: object))
        #expect(form.fields.prefix(Self.names.count).map(\.text) == Self.names.map { "1 \($0)" })
        let input = FormInput(posted: [
            (FormInput.Input.value.name("next, one"), "\(object.rowID)"), (FormInput.Input.add.name("all \"of\" them"), "1 first name"),
            (FormInput.Input.value.name("value:name"), "<script>"), (FormInput.Input.null.name("null"), "on"),
        ])
        let changed = try await browser.commit(ObjectEdit(.update(object), input: input, seen: form.seen))
        #expect(changed.isCommitted && changed.preview?.objects.first?.properties.count == 4, "\(changed)")
        #expect(try await browser.texts(object, "value:name", "null", "all \"of\" them") == ["<script>", nil, "\(object.rowID)"])
        let again = try await browser.preview(ObjectEdit(.update(object), input: FormInput(), seen: form.seen))
        #expect(Set(again.conflict?.properties.map(\.name) ?? []) == ["next, one", "value:name", "null"], "\(again)")
        let deleted = try await browser.commit(ObjectEdit(.delete(object)))
        #expect(deleted.isCommitted, "\(deleted)")
        #expect(try await browser.count(Self.entity) == 0)
        try await browser.close()
    }
}
