import Foundation
import PolyStoreBackend
import PolyStoreCore
import Testing

enum Kind: String, Codable, Sendable {
    case plain, fancy
}

/// An attribute of every kind, and a to-one relationship without an inverse.
final class Gadget: Model {
    var _$state: ModelState
    private var storedLabel: String = ""
    private var storedKind: Kind = .plain
    private var storedLevel: Int8 = 0
    private var storedSerial: UInt64 = 0
    private var storedWeight: Double = 0
    private var storedRatio: Float = 0
    private var storedPrice: Decimal = 0
    private var storedIsOn: Bool = false
    private var storedMade: Date? = nil
    private var storedCode: UUID? = nil
    private var storedTags: [String] = []
    private var storedBonus: Int? = nil
    private var storedPart = ToOne.none

    init(_$state state: consuming ModelState) { _$state = state }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        _$state = state
        try _$load(record)
    }

    func _$load(_ record: RecordView) throws {
        storedLabel = try ModelCoding.of(String.self).decode(record, 0)
        storedKind = try ModelCoding.of(Kind.self).decode(record, 1)
        storedLevel = try ModelCoding.of(Int8.self).decode(record, 2)
        storedSerial = try ModelCoding.of(UInt64.self).decode(record, 3)
        storedWeight = try ModelCoding.of(Double.self).decode(record, 4)
        storedRatio = try ModelCoding.of(Float.self).decode(record, 5)
        storedPrice = try ModelCoding.of(Decimal.self).decode(record, 6)
        storedIsOn = try ModelCoding.of(Bool.self).decode(record, 7)
        storedMade = try ModelCoding.of(Date?.self).decode(record, 8)
        storedCode = try ModelCoding.of(UUID?.self).decode(record, 9)
        storedTags = try ModelCoding.of([String].self).decode(record, 10)
        storedBonus = try ModelCoding.of(Int?.self).decode(record, 11)
        storedPart = ToOne(record, 12)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(storedLabel, into: &builder, 0)
        try ModelCoding.of(Kind.self).encode(storedKind, into: &builder, 1)
        try ModelCoding.of(Int8.self).encode(storedLevel, into: &builder, 2)
        try ModelCoding.of(UInt64.self).encode(storedSerial, into: &builder, 3)
        try ModelCoding.of(Double.self).encode(storedWeight, into: &builder, 4)
        try ModelCoding.of(Float.self).encode(storedRatio, into: &builder, 5)
        try ModelCoding.of(Decimal.self).encode(storedPrice, into: &builder, 6)
        try ModelCoding.of(Bool.self).encode(storedIsOn, into: &builder, 7)
        try ModelCoding.of(Date?.self).encode(storedMade, into: &builder, 8)
        try ModelCoding.of(UUID?.self).encode(storedCode, into: &builder, 9)
        try ModelCoding.of([String].self).encode(storedTags, into: &builder, 10)
        try ModelCoding.of(Int?.self).encode(storedBonus, into: &builder, 11)
        storedPart.encode(into: &builder, 12)
    }

    func _$toOne(_ relationship: Int) -> ToOne { storedPart }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { storedPart = target }

    var label: String {
        get {
            if _$state.isFault { _$fire(0) }
            return storedLabel
        }
        set {
            _$willChange(0)
            storedLabel = newValue
        }
    }
    var kind: Kind {
        get {
            if _$state.isFault { _$fire(1) }
            return storedKind
        }
        set {
            _$willChange(1)
            storedKind = newValue
        }
    }
    var level: Int8 {
        get {
            if _$state.isFault { _$fire(2) }
            return storedLevel
        }
        set {
            _$willChange(2)
            storedLevel = newValue
        }
    }
    var serial: UInt64 {
        get {
            if _$state.isFault { _$fire(3) }
            return storedSerial
        }
        set {
            _$willChange(3)
            storedSerial = newValue
        }
    }
    var weight: Double {
        get {
            if _$state.isFault { _$fire(4) }
            return storedWeight
        }
        set {
            _$willChange(4)
            storedWeight = newValue
        }
    }
    var ratio: Float {
        get {
            if _$state.isFault { _$fire(5) }
            return storedRatio
        }
        set {
            _$willChange(5)
            storedRatio = newValue
        }
    }
    var price: Decimal {
        get {
            if _$state.isFault { _$fire(6) }
            return storedPrice
        }
        set {
            _$willChange(6)
            storedPrice = newValue
        }
    }
    var isOn: Bool {
        get {
            if _$state.isFault { _$fire(7) }
            return storedIsOn
        }
        set {
            _$willChange(7)
            storedIsOn = newValue
        }
    }
    var made: Date? {
        get {
            if _$state.isFault { _$fire(8) }
            return storedMade
        }
        set {
            _$willChange(8)
            storedMade = newValue
        }
    }
    var code: UUID? {
        get {
            if _$state.isFault { _$fire(9) }
            return storedCode
        }
        set {
            _$willChange(9)
            storedCode = newValue
        }
    }
    var tags: [String] {
        get {
            if _$state.isFault { _$fire(10) }
            return storedTags
        }
        set {
            _$willChange(10)
            storedTags = newValue
        }
    }
    var bonus: Int? {
        get {
            if _$state.isFault { _$fire(11) }
            return storedBonus
        }
        set {
            _$willChange(11)
            storedBonus = newValue
        }
    }
    var part: Gadget? {
        get {
            if _$state.isFault { _$fire(12) }
            return _$target(of: 0, storedPart)
        }
        set {
            _$willChange(12)
            storedPart = _$retarget(0, from: storedPart, to: newValue)
        }
    }

    static var _$entityName: String { "Gadget" }
    static let _$entity = EntityDescription(
        name: "Gadget",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("label", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(Kind.self).describe("kind", options: [], originalName: nil, default: .plain)),
            .attribute(ModelCoding.of(Int8.self).describe("level", options: [], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(UInt64.self).describe("serial", options: [], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Double.self).describe("weight", options: [], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Float.self).describe("ratio", options: [], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Decimal.self).describe("price", options: [], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(Bool.self).describe("isOn", options: [], originalName: nil, default: false)),
            .attribute(ModelCoding.of(Date?.self).describe("made", options: [], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(UUID?.self).describe("code", options: [.unique], originalName: nil, default: nil)),
            .attribute(ModelCoding.of([String].self).describe("tags", options: [], originalName: nil, default: [])),
            .attribute(ModelCoding.of(Int?.self).describe("bonus", options: [], originalName: nil, default: nil)),
            .relationship(RelationshipDescription(name: "part", destination: "Gadget", isToMany: false)),
        ])
    static let _$properties = ModelProperties(
        Gadget.self,
        [
            (\Gadget.label, "label"),
            (\Gadget.kind, "kind"),
            (\Gadget.level, "level"),
            (\Gadget.serial, "serial"),
            (\Gadget.weight, "weight"),
            (\Gadget.ratio, "ratio"),
            (\Gadget.price, "price"),
            (\Gadget.isOn, "isOn"),
            (\Gadget.made, "made"),
            (\Gadget.code, "code"),
            (\Gadget.tags, "tags"),
            (\Gadget.bonus, "bonus"),
            (\Gadget.part, "part"),
        ])
}

let gadgetSchema = Schema("Gadgets 1", [Gadget.self], configurations: ["Shop": [Gadget.self], "Store": [Gadget.self]])

/// A stack with gadgets in one store.
final class Gadgets {
    let folder: Folder
    let stack: DataStack
    let logger = RecordingLogger()

    init(_ backend: Backend, configurations: [String?] = [nil]) throws {
        folder = try Folder()
        stack = try DataStack(gadgetSchema, logger: logger)
        for (number, name) in configurations.enumerated() {
            try stack.addStore(backend.store(in: folder, "gadgets\(number)"), configuration: name)
        }
    }

    deinit { if !logger.lines.isEmpty { Issue.record("unexpected log: \(logger.lines)") } }
}
