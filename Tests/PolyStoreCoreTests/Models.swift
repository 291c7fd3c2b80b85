import Foundation
import PolyStoreBackend
import PolyStoreCore

// Models as @Model expands them.

final class Person: Model {
    var _$state: ModelState
    private var storedEmail: String
    private var storedAge: Int
    private var storedNickname: String?
    private var storedDepartment: ToOne
    private var storedSpouse: ToOne

    init(_$state state: consuming ModelState) {
        storedEmail = ""
        storedAge = 0
        storedNickname = nil
        storedDepartment = .none
        storedSpouse = .none
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        storedEmail = try ModelCoding.of(String.self).decode(record, 0)
        storedAge = try ModelCoding.of(Int.self).decode(record, 1)
        storedNickname = try ModelCoding.of(String?.self).decode(record, 2)
        storedDepartment = ToOne(record, 3)
        storedSpouse = ToOne(record, 4)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        storedEmail = try ModelCoding.of(String.self).decode(record, 0)
        storedAge = try ModelCoding.of(Int.self).decode(record, 1)
        storedNickname = try ModelCoding.of(String?.self).decode(record, 2)
        storedDepartment = ToOne(record, 3)
        storedSpouse = ToOne(record, 4)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(storedEmail, into: &builder, 0)
        try ModelCoding.of(Int.self).encode(storedAge, into: &builder, 1)
        try ModelCoding.of(String?.self).encode(storedNickname, into: &builder, 2)
        storedDepartment.encode(into: &builder, 3)
        storedSpouse.encode(into: &builder, 4)
    }

    func _$toOne(_ relationship: Int) -> ToOne {
        switch relationship {
        case 0: storedDepartment
        case 2: storedSpouse
        default: .none
        }
    }

    func _$setToOne(_ relationship: Int, _ target: ToOne) {
        switch relationship {
        case 0: storedDepartment = target
        case 2: storedSpouse = target
        default: break
        }
    }

    var email: String {
        get {
            if _$state.isFault { _$fire(0) }
            return storedEmail
        }
        set {
            _$willChange(0)
            storedEmail = newValue
        }
    }
    var age: Int {
        get {
            if _$state.isFault { _$fire(1) }
            return storedAge
        }
        set {
            _$willChange(1)
            storedAge = newValue
        }
        _modify {
            _$willChange(1)
            yield &storedAge
        }
    }
    var nickname: String? {
        get {
            if _$state.isFault { _$fire(2) }
            return storedNickname
        }
        set {
            _$willChange(2)
            storedNickname = newValue
        }
    }
    var department: Department? {
        get {
            if _$state.isFault { _$fire(3) }
            return _$target(of: 0, storedDepartment)
        }
        set {
            _$willChange(3)
            storedDepartment = _$retarget(0, from: storedDepartment, to: newValue)
        }
    }
    var friends: Set<Person> {
        get { _$members(of: 1) }
        set { _$setMembers(of: 1, to: newValue) }
        _modify { yield &self[_$members: 1] }
    }
    var spouse: Person? {
        get {
            if _$state.isFault { _$fire(4) }
            return _$target(of: 2, storedSpouse)
        }
        set {
            _$willChange(4)
            storedSpouse = _$retarget(2, from: storedSpouse, to: newValue)
        }
    }
    var computed: String { "\(email) \(age)" }

    static var _$entityName: String { "Person" }
    static let _$entity = EntityDescription(
        name: "Person",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("email", options: [.unique], originalName: nil, default: nil)),
            .attribute(ModelCoding.of(Int.self).describe("age", options: [.indexed], originalName: nil, default: 0)),
            .attribute(ModelCoding.of(String?.self).describe("nickname", options: [], originalName: nil, default: nil)),
            .relationship(RelationshipDescription(name: "department", destination: "Dept", isToMany: false, inverse: "people")),
            .relationship(RelationshipDescription(name: "friends", destination: "Person", isToMany: true, inverse: "friends")),
            .relationship(RelationshipDescription(name: "spouse", destination: "Person", isToMany: false, inverse: "spouse")),
        ])
    static let _$properties = ModelProperties(
        Person.self,
        [
            (\Person.email, "email"), (\Person.age, "age"), (\Person.nickname, "nickname"), (\Person.department, "department"),
            (\Person.friends, "friends"), (\Person.spouse, "spouse"),
        ])
}

final class Department: Model {
    var _$state: ModelState
    private var storedTitle: String
    private var storedBudget: Decimal

    init(_$state state: consuming ModelState) {
        storedTitle = ""
        storedBudget = 0
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        storedTitle = try ModelCoding.of(String.self).decode(record, 0)
        storedBudget = try ModelCoding.of(Decimal.self).decode(record, 1)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        storedTitle = try ModelCoding.of(String.self).decode(record, 0)
        storedBudget = try ModelCoding.of(Decimal.self).decode(record, 1)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(storedTitle, into: &builder, 0)
        try ModelCoding.of(Decimal.self).encode(storedBudget, into: &builder, 1)
    }

    func _$toOne(_ relationship: Int) -> ToOne { .none }
    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    var title: String {
        get {
            if _$state.isFault { _$fire(0) }
            return storedTitle
        }
        set {
            _$willChange(0)
            storedTitle = newValue
        }
    }
    var budget: Decimal {
        get {
            if _$state.isFault { _$fire(1) }
            return storedBudget
        }
        set {
            _$willChange(1)
            storedBudget = newValue
        }
    }
    var people: Set<Person> {
        get { _$members(of: 0) }
        set { _$setMembers(of: 0, to: newValue) }
        _modify { yield &self[_$members: 0] }
    }
    var projects: Set<Project> {
        get { _$members(of: 1) }
        set { _$setMembers(of: 1, to: newValue) }
        _modify { yield &self[_$members: 1] }
    }
    var tags: Set<Project> {
        get { _$members(of: 2) }
        set { _$setMembers(of: 2, to: newValue) }
        _modify { yield &self[_$members: 2] }
    }

    static var _$entityName: String { "Dept" }
    static let _$entity = EntityDescription(
        name: "Dept",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("title", options: [], originalName: nil, default: "")),
            .attribute(ModelCoding.of(Decimal.self).describe("budget", options: [.indexed], originalName: nil, default: 0)),
            .relationship(RelationshipDescription(name: "people", destination: "Person", isToMany: true, deleteRule: .deny)),
            .relationship(
                RelationshipDescription(name: "projects", destination: "Project", isToMany: true, inverse: "owner", deleteRule: .cascade)),
            .relationship(RelationshipDescription(name: "tags", destination: "Project", isToMany: true)),
        ])
    static let _$properties = ModelProperties(
        Department.self,
        [
            (\Department.title, "title"), (\Department.budget, "budget"), (\Department.people, "people"),
            (\Department.projects, "projects"),
            (\Department.tags, "tags"),
        ])
}

final class Project: Model {
    var _$state: ModelState
    private var storedName: String
    private var storedOwner: ToOne
    private var storedParent: ToOne

    init(_$state state: consuming ModelState) {
        storedName = ""
        storedOwner = .none
        storedParent = .none
        _$state = state
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        storedName = try ModelCoding.of(String.self).decode(record, 0)
        storedOwner = ToOne(record, 1)
        storedParent = ToOne(record, 2)
        _$state = state
    }

    func _$load(_ record: RecordView) throws {
        storedName = try ModelCoding.of(String.self).decode(record, 0)
        storedOwner = ToOne(record, 1)
        storedParent = ToOne(record, 2)
    }

    func _$encode(into builder: inout RecordBuilder) throws {
        try ModelCoding.of(String.self).encode(storedName, into: &builder, 0)
        storedOwner.encode(into: &builder, 1)
        storedParent.encode(into: &builder, 2)
    }

    func _$toOne(_ relationship: Int) -> ToOne { relationship == 0 ? storedOwner : storedParent }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { if relationship == 0 { storedOwner = target } else { storedParent = target } }

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
    var owner: Department? {
        get {
            if _$state.isFault { _$fire(1) }
            return _$target(of: 0, storedOwner)
        }
        set {
            _$willChange(1)
            storedOwner = _$retarget(0, from: storedOwner, to: newValue)
        }
    }
    /// Without an inverse.
    var parent: Project? {
        get {
            if _$state.isFault { _$fire(2) }
            return _$target(of: 1, storedParent)
        }
        set {
            _$willChange(2)
            storedParent = _$retarget(1, from: storedParent, to: newValue)
        }
    }

    static var _$entityName: String { "Project" }
    static let _$entity = EntityDescription(
        name: "Project",
        properties: [
            .attribute(ModelCoding.of(String.self).describe("name", options: [], originalName: nil, default: "")),
            .relationship(RelationshipDescription(name: "owner", destination: "Dept", isToMany: false, isRequired: true)),
            .relationship(RelationshipDescription(name: "parent", destination: "Project", isToMany: false)),
        ])
    static let _$properties = ModelProperties(
        Project.self,
        [
            (\Project.name, "name"), (\Project.owner, "owner"), (\Project.parent, "parent"),
        ])
}
