import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreMemory
import PolyStoreSQLite
import TestSupport
import Testing

@Model
final class Booking {
    @Attribute(.range(1...8)) var guests: Int = 2
    @Attribute(.length(...5)) var note: String?
    @Attribute(.matches("[A-Z]{2}[0-9]+"), .length(3...)) var code: String = "AB1"
    @Attribute(.range(0..<100.5)) var price: Decimal = 1
    @Attribute(.range(0.25...)) var ratio: Double = 1
    @Attribute(.range(Date(timeIntervalSinceReferenceDate: 0)...)) var start: Date = Date(timeIntervalSinceReferenceDate: 10)
    var end: Date = Date(timeIntervalSinceReferenceDate: 20)
    @Attribute(.length(0..<4)) var photo: Data = Data()
    @Attribute(.range(...9_223_372_036_854_775_808 as PartialRangeThrough<UInt64>)) var serial: UInt64 = 0
    @Attribute(.range(0.5...2), name: "level_of") var level: Int8?
    @Relationship(inverse: "bookings", required: true) var host: Host?

    func validate() throws {
        var wrong: [ValidationError] = []
        if end < start { wrong.append(ValidationError("is before the start", attribute: "end")) }
        if guests == 7, note == nil { wrong.append(ValidationError("needs a note for seven")) }
        if guests == 6 { throw CocoaError(.featureUnsupported) }
        if !wrong.isEmpty { throw ValidationError(wrong) }
    }

    func validateForDelete() throws { if guests > 4 { throw ValidationError("are too many to be sent away", attribute: "guests") } }
}

@Model
final class Host {
    var name: String
    @Relationship(max: 2) var bookings: Set<Booking>
}

/// Rules of attributes and of models, which are validated at commit.
@Suite struct ValidationTests {
    static let schema = Schema("Bookings", Booking.self, Host.self)

    private func stack() throws -> DataStack {
        let stack = try DataStack(Self.schema)
        try stack.addStore(.inMemory())
        return stack
    }

    private func host(_ stack: DataStack) throws -> ObjectID<Host> {
        try stack.performAndWait { transaction in
            let host = try transaction.create(Into<Host>())
            host.name = "h"
            return host.objectID
        }
    }

    private func violations(_ body: () throws -> Void) -> [Violation] {
        do {
            try body()
            return []
        } catch let error as StoreError {
            #expect(error.code == .constraint, "\(error)")
            for violation in error.violations.prefix(20) { #expect(error.message.contains(violation.message)) }
            #expect(error.violations.first.map { $0.entity == error.entity && $0.attribute == error.attribute } ?? true)
            return error.violations
        } catch {
            Issue.record("\(error)")
            return []
        }
    }

    struct Edit: Sendable, CustomTestStringConvertible {
        let name: String
        let apply: @Sendable (Booking) -> Void
        /// The attribute and the rule of each violation; empty for valid values.
        var breaks: [(String, Violation.Rule)] = []
        var says = ""
        var testDescription: String { name }
    }

    static let edits: [Edit] = [
        Edit(name: "nothing", apply: { $0.note = nil }),
        Edit(name: "least", apply: { $0.guests = 1 }), Edit(name: "greatest", apply: { $0.guests = 8 }),
        Edit(name: "below", apply: { $0.guests = 0 }, breaks: [("guests", .range)], says: "guests of object 1 is 0, and 1...8 is allowed"),
        Edit(name: "above", apply: { $0.guests = 9 }, breaks: [("guests", .range)], says: "is 9"),
        // A family of four is one character; its scalars or bytes would be too long.
        Edit(name: "characters", apply: { $0.note = "👨‍👩‍👧‍👦👨‍👩‍👧‍👦e\u{301}é!" }),
        Edit(
            name: "too long", apply: { $0.note = "123456" }, breaks: [("note", .length)], says: "is \"123456\" (6), and a length of 0...5"),
        Edit(name: "whole text", apply: { $0.code = "xAB1" }, breaks: [("code", .pattern)], says: "does not match \"[A-Z]{2}[0-9]+\""),
        Edit(name: "two rules", apply: { $0.code = "A" }, breaks: [("code", .pattern), ("code", .length)]),
        Edit(name: "decimal", apply: { $0.price = Decimal(string: "100.4999") ?? 0 }),
        Edit(
            name: "open end", apply: { $0.price = Decimal(string: "100.5") ?? 0 }, breaks: [("price", .range)],
            says: "is 100.5, and 0.0..<100.5"),
        Edit(name: "negative", apply: { $0.price = -1 }, breaks: [("price", .range)]),
        Edit(name: "double", apply: { $0.ratio = 0.25 }),
        Edit(name: "no number", apply: { $0.ratio = .nan }, breaks: [("ratio", .range)]),
        Edit(name: "infinite", apply: { $0.ratio = .infinity }),
        Edit(
            name: "date", apply: { $0.start = Date(timeIntervalSinceReferenceDate: -1) }, breaks: [("start", .range)],
            says: "is 2000-12-31 23:59:59 +0000, and 2001-01-01 00:00:00 +0000..."),
        Edit(name: "bytes", apply: { $0.photo = Data([1, 2, 3]) }),
        Edit(
            name: "too many bytes", apply: { $0.photo = Data([1, 2, 3, 4]) }, breaks: [("photo", .length)],
            says: "(4), and a length of 0...3"),
        Edit(name: "unsigned", apply: { $0.serial = 1 << 63 }),
        Edit(name: "too great", apply: { $0.serial = .max }, breaks: [("serial", .range)], says: "is 18446744073709551615"),
        Edit(name: "real bounds", apply: { $0.level = 1 }),
        Edit(name: "real bounds, below", apply: { $0.level = 0 }, breaks: [("level_of", .range)]),
        Edit(name: "validate", apply: { $0.end = .distantPast }, breaks: [("end", .custom)], says: "end of object 1 is before the start"),
        Edit(name: "the object", apply: { $0.guests = 7 }, breaks: [("", .custom)], says: "Booking 1 needs a note for seven"),
        Edit(name: "any error", apply: { $0.guests = 6 }, breaks: [("", .custom)], says: "is refused"),
        Edit(
            name: "all together",
            apply: {
                ($0.guests, $0.note, $0.end) = (9, "123456", .distantPast)
                $0.host = nil
            }, breaks: [("host", .required), ("guests", .range), ("note", .length), ("end", .custom)]),
    ]

    /// New and updated objects.
    @Test(arguments: edits, [true, false])
    func rulesAreCheckedAtCommit(_ edit: Edit, _ isNew: Bool) throws {
        let stack = try stack()
        let host = try host(stack)
        func create(_ change: @Sendable @escaping (Booking) -> Void) throws -> ObjectID<Booking> {
            try stack.performAndWait { transaction in
                let booking = try transaction.create(Into<Booking>())
                booking.host = try transaction.edit(host)
                change(booking)
                return booking.objectID
            }
        }
        let found = violations {
            if isNew {
                _ = try create(edit.apply)
            } else {
                let id = try create { _ in }
                try stack.performAndWait { edit.apply(try $0.edit(id)) }
            }
        }
        // The caller knows no id of a new object.
        let says = isNew ? edit.says.replacing("object 1", with: "a new object").replacing("Booking 1", with: "A new Booking") : edit.says
        #expect(found.map { "\($0.attribute ?? "") \($0.rule)" } == edit.breaks.map { "\($0.0) \($0.1)" })
        #expect(found.allSatisfy { $0.entity == "Booking" && $0.rowID == 1 })
        #expect(edit.says.isEmpty || found.contains { $0.message.contains(says) }, "\(found.map(\.message))")
        let count = try stack.readAndWait { try $0.fetchCount(From<Booking>()) }
        #expect(count == (isNew && !edit.breaks.isEmpty ? 0 : 1))
    }

    @Test func violationsOfSeveralObjectsComeInOneError() throws {
        let stack = try stack()
        let host = try host(stack)
        let found = violations {
            try stack.performAndWait { transaction in
                _ = try transaction.create(Into<Host>())
                for number in 0..<25 {
                    let booking = try transaction.create(Into<Booking>())
                    booking.guests = 100 + number
                    if number < 3 { booking.host = try transaction.edit(host) }
                }
            }
        }
        #expect(found.count == 25 + 22 + 1 + 1)
        #expect(found.filter { $0.rule == .count }.map(\.attribute) == ["bookings"])
        #expect(found.filter { $0.rule == .required }.map(\.attribute).last == "name")
        #expect(Set(found.filter { $0.rule == .range }.map(\.rowID)).count == 25)
    }

    @Test func deletionsAreValidated() throws {
        let stack = try stack()
        let host = try host(stack)
        let id = try stack.performAndWait { transaction in
            let booking = try transaction.create(Into<Booking>())
            (booking.host, booking.guests) = (try transaction.edit(host), 5)
            return booking.objectID
        }
        let found = violations { try stack.performAndWait { try $0.delete(id) } }
        #expect(found.map(\.message) == ["Booking.guests of object 1 are too many to be sent away"])
        try stack.performAndWait { try $0.edit(id).guests = 4 }
        try stack.performAndWait { try $0.delete(id) }
        // An object created in the same transaction is not asked, and is not validated.
        try stack.performAndWait { transaction in
            let booking = try transaction.create(Into<Booking>())
            booking.guests = 100
            try transaction.delete(booking)
        }
    }

    /// A store created without rules can be opened with them; existing objects are validated when they are updated.
    @Test func rulesChangeNoStore() throws {
        var plain = Booking._$entity
        plain.properties = plain.properties.map { property in
            guard case .attribute(var attribute) = property else { return property }
            attribute.rules = []
            return .attribute(attribute)
        }
        let before = SchemaDescription(name: "Bookings", entities: [plain, Host._$entity])
        let after = SchemaDescription(name: "Bookings", entities: [Booking._$entity, Host._$entity])
        #expect(before.versionHash == after.versionHash && before.differences(to: after) == [])
        #expect(!String(decoding: before.encoded(), as: UTF8.self).contains("rules"))
        #expect(try SchemaDescription(encoded: before.encoded()) == before)
        #expect(try SchemaDescription(encoded: after.encoded()) == after)
        let folder = try Folder()
        let store = Backend.sqlite.store(in: folder)
        let backend = try store.open(schema: ResolvedSchema(before), configurationName: nil, logger: StandardErrorLogger())
        let changes = ChangeSet(try ResolvedSchema(before))
        try changes.insert(changes.schema.entities[1], rowID: 1) { $0.setText(0, "h") }
        try changes.insert(changes.schema.entities[0], rowID: 1) { builder in
            builder.setInteger(0, 99)
            builder.setText(2, "not a code")
            try builder.set(changes.schema.entities[0].fields[3], .blob(Decimal(1).attributeBytes))
            for field in [4, 5, 6] { builder.setReal(field, 20) }
            builder.setBytes(7, UnsafeRawBufferPointer(start: nil, count: 0))
            builder.setInteger(8, 0)
            builder.setInteger(10, 1)
        }
        let writer = try backend.beginWrite()
        try writer.apply(changes)
        _ = try writer.commit(.relaxed)
        try backend.close()
        let stack = try DataStack(Self.schema)
        try stack.addStore(store)
        try stack.performAndWait { try #require(try $0.fetchOne(From<Booking>())).note = "ok" }
        let found = violations { try stack.performAndWait { try #require(try $0.fetchOne(From<Booking>())).code = "wrong" } }
        #expect(found.map(\.attribute) == ["code"])
    }
}

extension Decimal {
    fileprivate var attributeBytes: [UInt8] { if case .blob(let bytes) = attributeValue { bytes } else { [] } }
}
