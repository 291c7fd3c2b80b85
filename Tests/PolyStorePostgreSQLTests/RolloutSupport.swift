import Foundation
import PolyStoreBackend
import PolyStoreCore
import PostgreSQLServer
import TestModels

@testable import PolyStoreMigration
@testable import PolyStorePostgreSQL

/// A change of the model whose rollout is a row of the table in the guide to PostgreSQL.
struct RolloutChange: Sendable, CustomStringConvertible {
    static let company = Schema("Company 1", Person.self, Department.self, Project.self)
    static let parties = Schema(
        "Company 1", Person.self, Department.self, Project.self, Party.self, Human.self, Firm.self, Worker.self, Visit.self)

    let description: String
    /// A Boolean value that indicates whether only plain indexes differ, which an opening replaces.
    var isIndexOnly = false
    var models = company
    /// Turns the description of the former model into that of the new one.
    let edit: @Sendable (inout SchemaDescription) -> Void

    /// Returns the description of the new model.
    func target() throws -> SchemaDescription {
        var target = try models.description(ofConfiguration: nil)
        edit(&target)
        target.name = "Company 2"
        return target
    }

    static let all: [RolloutChange] = [
        RolloutChange(description: "attribute added, optional") {
            $0.change("Person") { $0.add(AttributeDescription(name: "phone", type: .string, isOptional: true)) }
        },
        RolloutChange(description: "attribute added, with a default") {
            $0.change("Person") { $0.add(AttributeDescription(name: "level", type: .int64, defaultValue: .integer(1))) }
        },
        RolloutChange(description: "attribute removed") { $0.change("Person") { $0.remove("nickname") } },
        RolloutChange(description: "attribute renamed") {
            $0.change("Person") {
                $0.change("nickname") {
                    $0.name = "alias"
                    $0.originalName = "nickname"
                }
            }
        },
        RolloutChange(description: "type of an attribute changed") {
            $0.change("Person") { $0.change("age") { ($0.type, $0.defaultValue) = (.string, nil) } }
        },
        RolloutChange(description: "relationship added") {
            $0.change("Person") { $0.add(RelationshipDescription(name: "mentor", destination: "Person", isToMany: false)) }
        },
        RolloutChange(description: "relationship removed") { $0.change("Dept") { $0.remove("tags") } },
        RolloutChange(description: "inverse added") {
            $0.change("Project") { $0.add(RelationshipDescription(name: "tagged", destination: "Dept", isToMany: true)) }
            $0.change("Dept") { $0.change(relationship: "tags") { $0.inverse = "tagged" } }
        },
        RolloutChange(description: "entity added") {
            $0.entities.append(EntityDescription(name: "City", properties: [.attribute(AttributeDescription(name: "name", type: .string))]))
        },
        RolloutChange(description: "entity removed") {
            $0.entities.removeAll { $0.name == "Project" }
            $0.change("Dept") {
                $0.remove("tags")
                $0.remove("projects")
            }
        },
        RolloutChange(description: "entity renamed") {
            $0.change("Project") {
                $0.name = "Task"
                $0.originalName = "Project"
                $0.change(relationship: "parent") { $0.destination = "Task" }
            }
            $0.change("Dept") {
                $0.change(relationship: "tags") { $0.destination = "Task" }
                $0.change(relationship: "projects") { $0.destination = "Task" }
            }
        },
        RolloutChange(description: "unique constraint added") { $0.change("Person") { $0.change("nickname") { $0.isUnique = true } } },
        RolloutChange(description: "unique constraint removed") { $0.change("Person") { $0.change("email") { $0.isUnique = false } } },
        RolloutChange(description: "hierarchy changed", models: parties) {
            $0.change("Party") {
                $0.hierarchy?.subentities.append(
                    SubentityDescription(name: "Shop", parent: "Party", isAbstract: false, properties: [], required: []))
            }
        },
        RolloutChange(description: "index added", isIndexOnly: true) {
            $0.change("Person") { $0.change("nickname") { $0.isIndexed = true } }
        },
        RolloutChange(description: "index removed", isIndexOnly: true) {
            $0.change("Person") { $0.change("age") { $0.isIndexed = false } }
        },
    ]
}

extension SchemaDescription {
    fileprivate mutating func change(_ name: String, _ body: (inout EntityDescription) -> Void) {
        for index in entities.indices where entities[index].name == name { body(&entities[index]) }
    }
}

extension EntityDescription {
    fileprivate mutating func add(_ attribute: AttributeDescription) { properties.append(.attribute(attribute)) }
    fileprivate mutating func add(_ relationship: RelationshipDescription) { properties.append(.relationship(relationship)) }
    fileprivate mutating func remove(_ name: String) { properties.removeAll { $0.name == name } }

    fileprivate mutating func change(_ name: String, _ body: (inout AttributeDescription) -> Void) {
        properties = properties.map { property in
            guard case .attribute(var attribute) = property, attribute.name == name else { return property }
            body(&attribute)
            return .attribute(attribute)
        }
    }

    fileprivate mutating func change(relationship name: String, _ body: (inout RelationshipDescription) -> Void) {
        properties = properties.map { property in
            guard case .relationship(var relationship) = property, relationship.name == name else { return property }
            body(&relationship)
            return .relationship(relationship)
        }
    }
}

/// Migrates a store from the model of a stack to another one, as `upgradeStoreIfNeeded` does.
/// - Parameter meanwhile: Called before the commit.
func migrateStore(
    _ url: String, _ options: PostgreSQLOptions, from models: Schema, to target: SchemaDescription,
    logger: any StoreLogger = SilentLogger(), meanwhile: () throws -> Void = {}
) throws {
    let source = try models.description(ofConfiguration: nil)
    let migrator = try StoreMigrator(
        store: .postgreSQL(url, options: options), configurationName: nil, history: SchemaHistory(models), current: models,
        policy: .lightweight, logger: logger)
    let step = MigrationPath.Step(
        sourceVersion: source.name, targetVersion: target.name, source: source, target: target, mapping: nil)
    let plan = try migrator.plan(step)
    let backend = try migrator.open(plan)
    defer { try? backend.close() }
    _ = try migrator.run(step, plan, backend) { migration in
        try meanwhile()
        try migration.commit()
    }
}

/// A program with the former model: a stack and a live list of people.
final class FormerProgram: Sendable {
    let models: Schema
    let options: PostgreSQLOptions
    let stack: DataStack
    /// The number of people that the live list shows; nil before its first state.
    let listed = Protected<Int?>(nil)
    /// The errors of the live list, which the stack logs.
    let log = MessageLog()
    private let following = Protected<Task<Void, any Error>?>(nil)

    init(_ models: Schema, _ options: PostgreSQLOptions) throws {
        (self.models, self.options) = (models, options)
        stack = try DataStack(models, logger: log)
        // The removal of an index waits for the snapshot of the live list.
        stack.snapshotIdleTime = .milliseconds(100)
        try stack.addStore(.postgreSQL(TestServer.get().url(), options: options))
    }

    deinit { following.withLock { $0 }?.cancel() }

    /// Starts the live list.
    func follow() {
        let (stack, listed) = (stack, listed)
        let task = Task { for try await people in stack.snapshots(of: From<Person>()) { listed.withLock { $0 = people.count } } }
        following.withLock { $0 = task }
    }

    private func answer(_ body: () throws -> String) -> String {
        do { return try body() } catch let error as StoreError { return "`\(error.code)`" } catch { return "\(error)" }
    }

    /// Counts the people.
    func read() -> String { answer { "\(try stack.readAndWait { try $0.fetchCount(From<Person>()) })" } }

    /// Adds a person.
    func write(_ email: String) -> String {
        answer {
            try stack.performAndWait { try $0.create(Into<Person>()).email = email }
            return "works"
        }
    }

    /// Opens the store once more and counts the people.
    func open(migrating policy: MigrationPolicy? = nil) -> String {
        answer {
            let other = try DataStack(models, logger: SilentLogger())
            let store = try StoreConfiguration.postgreSQL(TestServer.get().url(), options: options)
            if let policy { _ = try other.upgradeStoreIfNeededAndWait(store, migrating: policy) }
            try other.addStore(store)
            return "\(try other.readAndWait { try $0.fetchCount(From<Person>()) })"
        }
    }
}

/// Keeps the messages that are logged.
final class MessageLog: StoreLogger {
    private let kept = Protected<[String]>([])
    var messages: [String] { kept.withLock { $0 } }
    func isEnabled(_ level: LogLevel) -> Bool { level >= .warning }
    func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
        kept.withLock { $0.append(message) }
    }
}

/// Waits for a condition without blocking a thread.
func eventually(_ condition: () throws -> Bool) async throws { while try !condition() { try await Task.sleep(for: .milliseconds(5)) } }
