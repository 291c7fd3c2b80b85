import PolyStoreBackend
import PolyStoreCore

// A hierarchy as @Model expands it. Party is abstract; Human and Firm inherit from it, Worker from Human.
//
// A superclass has `class` members that its subclasses override, and lists the subclasses in `_$inheritance`. A subclass gets the index of its first property
// from the hierarchy, and calls `super` first.

class Party: Model {
    final var _$state: ModelState
    private var storedName: String
    private var storedCode: String?
    private var storedSponsor: ToOne

    required init(_$state state: consuming ModelState) {
        storedName = ""
        storedCode = nil
        storedSponsor = .none
        _$state = state
    }

    required init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        storedName = try ModelCoding.of(String.self).decode(record, 0)
        storedCode = try ModelCoding.of(String?.self).decode(record, 1)
        storedSponsor = ToOne(record, 2)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        storedName = try ModelCoding.of(String.self).decode(record, 0)
        storedCode = try ModelCoding.of(String?.self).decode(record, 1)
        storedSponsor = ToOne(record, 2)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(storedName, into: &builder, 0)
        try ModelCoding.of(String?.self).encode(storedCode, into: &builder, 1)
        storedSponsor.encode(into: &builder, 2)
    }

    func _$toOne(_ relationship: Int) -> ToOne { relationship == 0 ? storedSponsor : .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { if relationship == 0 { storedSponsor = target } }

    var name: String {
        get {
            if _$state.isFault { _$fire(0) }
            return storedName
        }
        set {
            _$willChange(0)
            storedName = newValue
        }
    }
    /// Unique in the hierarchy.
    var code: String? {
        get {
            if _$state.isFault { _$fire(1) }
            return storedCode
        }
        set {
            _$willChange(1)
            storedCode = newValue
        }
    }
    /// Without an inverse.
    var sponsor: Party? {
        get {
            if _$state.isFault { _$fire(2) }
            return _$target(of: 0, storedSponsor)
        }
        set {
            _$willChange(2)
            storedSponsor = _$retarget(0, from: storedSponsor, to: newValue)
        }
    }
    var visits: Set<Visit> {
        get { _$members(of: 1) }
        set { _$setMembers(of: 1, to: newValue) }
        _modify { yield &self[_$members: 1] }
    }

    // Overridable, which the default of the protocol is not.
    func validate() throws {}
    func validateForDelete() throws {}

    class var _$entityName: String { "Party" }
    class var _$entity: EntityDescription { ownEntity }
    private static let ownEntity = EntityDescription(
        name: "Party",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("name", options: [.indexed], originalName: nil, default: "")),
            .attribute(ModelCoding.of(String?.self).describe("code", options: [.unique], originalName: nil, default: nil)),
            .relationship(RelationshipDescription(name: "sponsor", destination: "Party", isToMany: false)),
            .relationship(
                RelationshipDescription(name: "visits", destination: "Visit", isToMany: true, inverse: "party", deleteRule: .cascade)),
        ])
    class var _$properties: ModelProperties { ownProperties }
    private static let ownProperties = ModelProperties(Party.self, Party.paths(Party.self))
    /// Returns the key paths of a class. A key path has one root class, so each subclass creates its own.
    static func paths<T: Party>(_ type: T.Type) -> [(PartialKeyPath<T>, String)] {
        [(\T.name, "name"), (\T.code, "code"), (\T.sponsor, "sponsor"), (\T.visits, "visits")]
    }
    static let _$hierarchy: ModelHierarchy? = ModelHierarchy(Party.self)
    class var _$inheritance: ModelInheritance {
        ModelInheritance(isAbstract: true, subentities: [Human.self, Firm.self])
    }
}

class Human: Party {
    private static let ordinals = Party._$hierarchy?.ordinals(of: Human.self) ?? ModelOrdinals()
    private var storedAge: Int
    private var storedEmployer: ToOne

    required init(_$state state: consuming ModelState) {
        storedAge = 0
        storedEmployer = .none
        super.init(_$state: state)
    }

    required init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        let base = Human.ordinals.field
        storedAge = try ModelCoding.of(Int.self).decode(record, base)
        storedEmployer = ToOne(record, base + 1)
        try super.init(_$state: state, decoding: record)
    }

    override func _$load(_ record: RecordView) throws {
        try super._$load(record)
        let base = Human.ordinals.field
        storedAge = try ModelCoding.of(Int.self).decode(record, base)
        storedEmployer = ToOne(record, base + 1)
    }

    override func _$encode(into builder: inout RecordBuilder) throws {
        try super._$encode(into: &builder)
        let base = Human.ordinals.field
        try ModelCoding.of(Int.self).encode(storedAge, into: &builder, base)
        storedEmployer.encode(into: &builder, base + 1)
    }

    override func _$toOne(_ relationship: Int) -> ToOne {
        relationship == Human.ordinals.relationship ? storedEmployer : super._$toOne(relationship)
    }
    override func _$setToOne(_ relationship: Int, _ target: ToOne) {
        if relationship == Human.ordinals.relationship { storedEmployer = target } else { super._$setToOne(relationship, target) }
    }

    var age: Int {
        get {
            if _$state.isFault { _$fire(Human.ordinals.field) }
            return storedAge
        }
        set {
            _$willChange(Human.ordinals.field)
            storedAge = newValue
        }
    }
    var employer: Firm? {
        get {
            if _$state.isFault { _$fire(Human.ordinals.field + 1) }
            return _$target(of: Human.ordinals.relationship, storedEmployer)
        }
        set {
            _$willChange(Human.ordinals.field + 1)
            storedEmployer = _$retarget(Human.ordinals.relationship, from: storedEmployer, to: newValue)
        }
    }

    override class var _$entityName: String { "Human" }
    override class var _$entity: EntityDescription { ownEntity }
    private static let ownEntity = EntityDescription(
        name: "Human",
        properties: [
            .attribute(ModelCoding.of(Int.self).describe("age", options: [.indexed], originalName: nil, default: 0)),
            .relationship(RelationshipDescription(name: "employer", destination: "Firm", isToMany: false, inverse: "staff")),
        ])
    override class var _$properties: ModelProperties { ownProperties }
    private static let ownProperties = ModelProperties(Human.self, Human.humanPaths(Human.self))
    static func humanPaths<T: Human>(_ type: T.Type) -> [(PartialKeyPath<T>, String)] {
        Party.paths(type) + [(\T.age, "age"), (\T.employer, "employer")]
    }
    override class var _$inheritance: ModelInheritance {
        ModelInheritance(superentity: Party.self, subentities: [Worker.self])
    }
}

final class Worker: Human {
    private static let ordinals = Party._$hierarchy?.ordinals(of: Worker.self) ?? ModelOrdinals()
    private var storedBadge: String
    private var storedBoss: ToOne

    required init(_$state state: consuming ModelState) {
        storedBadge = ""
        storedBoss = .none
        super.init(_$state: state)
    }

    required init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        let base = Worker.ordinals.field
        storedBadge = try ModelCoding.of(String.self).decode(record, base)
        storedBoss = ToOne(record, base + 1)
        try super.init(_$state: state, decoding: record)
    }

    override func _$load(_ record: RecordView) throws {
        try super._$load(record)
        let base = Worker.ordinals.field
        storedBadge = try ModelCoding.of(String.self).decode(record, base)
        storedBoss = ToOne(record, base + 1)
    }

    override func _$encode(into builder: inout RecordBuilder) throws {
        try super._$encode(into: &builder)
        let base = Worker.ordinals.field
        try ModelCoding.of(String.self).encode(storedBadge, into: &builder, base)
        storedBoss.encode(into: &builder, base + 1)
    }

    override func _$toOne(_ relationship: Int) -> ToOne {
        relationship == Worker.ordinals.relationship ? storedBoss : super._$toOne(relationship)
    }
    override func _$setToOne(_ relationship: Int, _ target: ToOne) {
        if relationship == Worker.ordinals.relationship { storedBoss = target } else { super._$setToOne(relationship, target) }
    }

    /// Required.
    var badge: String {
        get {
            if _$state.isFault { _$fire(Worker.ordinals.field) }
            return storedBadge
        }
        set {
            _$willChange(Worker.ordinals.field)
            storedBadge = newValue
        }
    }
    var boss: Worker? {
        get {
            if _$state.isFault { _$fire(Worker.ordinals.field + 1) }
            return _$target(of: Worker.ordinals.relationship, storedBoss)
        }
        set {
            _$willChange(Worker.ordinals.field + 1)
            storedBoss = _$retarget(Worker.ordinals.relationship, from: storedBoss, to: newValue)
        }
    }
    /// At most two.
    var reports: Set<Worker> {
        get { _$members(of: Worker.ordinals.relationship + 1) }
        set { _$setMembers(of: Worker.ordinals.relationship + 1, to: newValue) }
        _modify { yield &self[_$members: Worker.ordinals.relationship + 1] }
    }

    override func validate() throws { if badge == "none" { throw ValidationError("is no badge", attribute: "badge") } }

    override static var _$entityName: String { "Worker" }
    override static var _$entity: EntityDescription { ownEntity }
    private static let ownEntity = EntityDescription(
        name: "Worker",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("badge", options: [], originalName: nil, default: nil)),
            .relationship(RelationshipDescription(name: "boss", destination: "Worker", isToMany: false, inverse: "reports")),
            .relationship(RelationshipDescription(name: "reports", destination: "Worker", isToMany: true, maxCount: 2)),
        ])
    override static var _$properties: ModelProperties { ownProperties }
    private static let ownProperties = ModelProperties(
        Worker.self,
        Human.humanPaths(Worker.self) + [(\Worker.badge, "badge"), (\Worker.boss, "boss"), (\Worker.reports, "reports")])
    override static var _$inheritance: ModelInheritance { ModelInheritance(superentity: Human.self) }
}

final class Firm: Party {
    private static let ordinals = Party._$hierarchy?.ordinals(of: Firm.self) ?? ModelOrdinals()
    private var storedRevenue: Int
    private var storedDirector: ToOne

    required init(_$state state: consuming ModelState) {
        storedRevenue = 0
        storedDirector = .none
        super.init(_$state: state)
    }

    required init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        let base = Firm.ordinals.field
        storedRevenue = try ModelCoding.of(Int.self).decode(record, base)
        storedDirector = ToOne(record, base + 1)
        try super.init(_$state: state, decoding: record)
    }

    override func _$load(_ record: RecordView) throws {
        try super._$load(record)
        let base = Firm.ordinals.field
        storedRevenue = try ModelCoding.of(Int.self).decode(record, base)
        storedDirector = ToOne(record, base + 1)
    }

    override func _$encode(into builder: inout RecordBuilder) throws {
        try super._$encode(into: &builder)
        let base = Firm.ordinals.field
        try ModelCoding.of(Int.self).encode(storedRevenue, into: &builder, base)
        storedDirector.encode(into: &builder, base + 1)
    }

    override func _$toOne(_ relationship: Int) -> ToOne {
        relationship == Firm.ordinals.relationship + 1 ? storedDirector : super._$toOne(relationship)
    }
    override func _$setToOne(_ relationship: Int, _ target: ToOne) {
        if relationship == Firm.ordinals.relationship + 1 {
            storedDirector = target
        } else {
            super._$setToOne(relationship, target)
        }
    }

    var revenue: Int {
        get {
            if _$state.isFault { _$fire(Firm.ordinals.field) }
            return storedRevenue
        }
        set {
            _$willChange(Firm.ordinals.field)
            storedRevenue = newValue
        }
    }
    /// A company with staff cannot be deleted.
    var staff: Set<Human> {
        get { _$members(of: Firm.ordinals.relationship) }
        set { _$setMembers(of: Firm.ordinals.relationship, to: newValue) }
        _modify { yield &self[_$members: Firm.ordinals.relationship] }
    }
    /// Required.
    var director: Human? {
        get {
            if _$state.isFault { _$fire(Firm.ordinals.field + 1) }
            return _$target(of: Firm.ordinals.relationship + 1, storedDirector)
        }
        set {
            _$willChange(Firm.ordinals.field + 1)
            storedDirector = _$retarget(Firm.ordinals.relationship + 1, from: storedDirector, to: newValue)
        }
    }

    override static var _$entityName: String { "Firm" }
    override static var _$entity: EntityDescription { ownEntity }
    private static let ownEntity = EntityDescription(
        name: "Firm",
        properties: [
            .attribute(ModelCoding.of(Int.self).describe("revenue", options: [.indexed], originalName: nil, default: 0)),
            .relationship(RelationshipDescription(name: "staff", destination: "Human", isToMany: true, deleteRule: .deny)),
            .relationship(RelationshipDescription(name: "director", destination: "Human", isToMany: false, isRequired: true)),
        ])
    override static var _$properties: ModelProperties { ownProperties }
    private static let ownProperties = ModelProperties(
        Firm.self,
        Party.paths(Firm.self) + [
            (\Firm.revenue, "revenue"), (\Firm.staff, "staff"), (\Firm.director, "director"),
        ])
    override static var _$inheritance: ModelInheritance { ModelInheritance(superentity: Party.self) }
}

/// Outside the hierarchy, with a relationship to it.
final class Visit: Model {
    var _$state: ModelState
    private var storedDay: Int
    private var storedParty: ToOne

    init(_$state state: consuming ModelState) {
        storedDay = 0
        storedParty = .none
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        storedDay = try ModelCoding.of(Int.self).decode(record, 0)
        storedParty = ToOne(record, 1)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        storedDay = try ModelCoding.of(Int.self).decode(record, 0)
        storedParty = ToOne(record, 1)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(Int.self).encode(storedDay, into: &builder, 0)
        storedParty.encode(into: &builder, 1)
    }

    func _$toOne(_ relationship: Int) -> ToOne { storedParty }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { storedParty = target }

    var day: Int {
        get {
            if _$state.isFault { _$fire(0) }
            return storedDay
        }
        set {
            _$willChange(0)
            storedDay = newValue
        }
    }
    var party: Party? {
        get {
            if _$state.isFault { _$fire(1) }
            return _$target(of: 0, storedParty)
        }
        set {
            _$willChange(1)
            storedParty = _$retarget(0, from: storedParty, to: newValue)
        }
    }

    static var _$entityName: String { "Visit" }
    static let _$entity = EntityDescription(
        name: "Visit",
        properties: [
            .attribute(ModelCoding.of(Int.self).describe("day", options: [], originalName: nil, default: 0)),
            .relationship(RelationshipDescription(name: "party", destination: "Party", isToMany: false)),
        ])
    static let _$properties = ModelProperties(Visit.self, [(\Visit.day, "day"), (\Visit.party, "party")])
}
