import Foundation
import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels

/// The random changes of the programs of ``MergeRun``. Each changes a transaction, and the side of the model that describes it.
extension MergeRun {
    func object(_ key: Key, _ transaction: Transaction) throws -> any Model {
        func find<T: Model>(_ type: T.Type) throws -> any Model {
            guard let id = ids[key] as? ObjectID<T> else { throw Mismatch(text: "no id of \(key)") }
            return try transaction.edit(id)
        }
        switch key.kind {
        case .person: return try find(Person.self)
        case .department: return try find(Department.self)
        case .project: return try find(Project.self)
        case .playlist: return try find(Playlist.self)
        case .track: return try find(Track.self)
        }
    }

    func create(_ kind: MergeModel.Kind, _ transaction: Transaction, _ side: inout MergeModel.Side) throws {
        number += 1
        func make<T: Model>(_ type: T.Type) throws -> (Key, T) {
            let object = try transaction.create(type)
            let key = Key(kind: kind, rowID: object.objectID.rowID)
            ids[key] = object.objectID
            side.create(key)
            log.append("create \(key)")
            return (key, object)
        }
        switch kind {
        case .person: try make(Person.self).1.email = "p\(1000 + number)"
        case .department: _ = try make(Department.self)
        case .project:
            let departments = side.state.keys(.department)
            let (key, project) = try make(Project.self)
            guard !departments.isEmpty else { return }
            let owner = random.pick(departments)
            project.owner = try object(owner, transaction) as? Department
            side.set(key, .owner, owner)
        case .playlist: _ = try make(Playlist.self)
        case .track: _ = try make(Track.self)
        }
    }

    func set(_ key: Key, _ index: Int, _ value: Int, _ object: any Model, _ side: inout MergeModel.Side) {
        log.append("\(key).\(index)=\(value)")
        let text = value == 0 ? "" : "\(value)"
        switch (object, index) {
        case (let person as Person, 0): person.age = value
        case (let person as Person, _): person.nickname = value == 0 ? nil : text
        case (let department as Department, 0): department.title = text
        case (let department as Department, _): department.budget = Decimal(value)
        case (let project as Project, _): project.name = text
        case (let playlist as Playlist, _): playlist.title = text
        case (let track as Track, _): track.title = text
        default: break
        }
        side.set(key, index, value)
    }

    func change(_ transaction: Transaction, _ side: inout MergeModel.Side, mayDelete: Bool = true) throws {
        var held: [Key: any Model] = [:]
        try change(transaction, &side, &held, mayDelete: mayDelete)
    }

    /// Applies one random change to a transaction and its side.
    func change(
        _ transaction: Transaction, _ side: inout MergeModel.Side, _ held: inout [Key: any Model], mayDelete: Bool = true
    ) throws {
        func pick(_ kind: MergeModel.Kind) -> Key? {
            let keys = side.state.keys(kind)
            return keys.isEmpty ? nil : random.pick(keys)
        }
        func find<T: Model>(_ key: Key, _ type: T.Type = T.self) throws -> T {
            let object = try object(key, transaction)
            held[key] = object
            guard let found = object as? T else { throw Mismatch(text: "\(key) is a \(object)") }
            return found
        }
        func some<T: Model>(_ kind: MergeModel.Kind, _ most: Int) throws -> (keys: [Key], objects: [T]) {
            let keys = random.pick(random.below(most), of: side.state.keys(kind))
            return (keys, try keys.map { try find($0) })
        }
        let kind = random.below(mayDelete ? 21 : 15)
        switch kind {
        case 0...5:
            guard let key = random.once(in: 2) ? pick(.person) : pick(random.pick(MergeModel.Kind.allCases)) else { return }
            let object = try object(key, transaction)
            held[key] = object
            // Several properties in one change.
            for index in 0..<key.kind.attributeCount where key.kind.attributeCount == 1 || random.once(in: 2) {
                set(key, index, random.below(9), object, &side)
            }
        case 6:
            guard let key = pick(.person) else { return }
            let target = random.once(in: 4) ? nil : pick(.department)
            guard side.state.objects[key]?.ones[.department] != target else { return }
            log.append("\(key).department=\(target.map { "\($0)" } ?? "-")")
            try find(key, Person.self).department = try target.map { try find($0) }
            side.set(key, .department, target)
        case 7:
            guard !hasUndo, let key = pick(.person) else { return }
            let target = random.once(in: 4) ? nil : pick(.person)
            guard target != key, side.state.objects[key]?.ones[.spouse] != target else { return }
            log.append("\(key).spouse=\(target.map { "\($0)" } ?? "-")")
            try find(key, Person.self).spouse = try target.map { try find($0) }
            side.set(key, .spouse, target)
        case 8:
            guard let key = pick(.project), let target = pick(.department) else { return }
            guard side.state.objects[key]?.ones[.owner] != target else { return }
            log.append("\(key).owner=\(target)")
            try find(key, Project.self).owner = try find(target)
            side.set(key, .owner, target)
        case 9:
            guard let key = pick(.project) else { return }
            let target = random.once(in: 4) ? nil : pick(.project)
            guard side.state.objects[key]?.ones[.parent] != target else { return }
            log.append("\(key).parent=\(target.map { "\($0)" } ?? "-")")
            try find(key, Project.self).parent = try target.map { try find($0) }
            side.set(key, .parent, target)
        case 10:
            guard let key = pick(.person) else { return }
            var wanted: (keys: [Key], objects: [Person]) = try some(.person, 4)
            if let own = wanted.keys.firstIndex(of: key) {
                wanted.keys.remove(at: own)
                wanted.objects.remove(at: own)
            }
            log.append("\(key).friends=\(wanted.keys.map(\.rowID))")
            try find(key, Person.self).friends = Set(wanted.objects)
            side.replace(End(owner: key, many: .friends), wanted.keys)
        case 11:
            guard let key = pick(.department) else { return }
            let wanted: (keys: [Key], objects: [Project]) = try some(.project, 4)
            log.append("\(key).tags=\(wanted.keys.map(\.rowID))")
            try find(key, Department.self).tags = Set(wanted.objects)
            side.replace(End(owner: key, many: .tags), wanted.keys)
        case 12:
            guard let key = pick(.playlist) else { return }
            let wanted: (keys: [Key], objects: [Track]) = try some(.track, 6)
            log.append("\(key).tracks=\(wanted.keys.map(\.rowID))")
            try find(key, Playlist.self).tracks = wanted.objects
            side.arrange(List(owner: key, isTracks: true), wanted.keys)
        case 13:
            guard let key = pick(.playlist) else { return }
            let wanted: (keys: [Key], objects: [Track]) = try some(.track, 5)
            log.append("\(key).extras=\(wanted.keys.map(\.rowID))")
            try find(key, Playlist.self).extras = wanted.objects
            side.arrange(List(owner: key, isTracks: false), wanted.keys)
        case 14:
            let kind = random.pick(MergeModel.Kind.allCases)
            guard !hasUndo else { return }
            try create(kind, transaction, &side)
        default:
            guard let key = kind < 18 ? pick(.person) : pick(random.pick(MergeModel.Kind.allCases)) else { return }
            // Deleted objects keep a relationship that denies the deletion, and nothing may be changed through it.
            if key.kind == .department, !side.state.sources(.department, key).isEmpty { return }
            log.append("delete \(key)")
            try transaction.delete(object: object(key, transaction))
            side.delete([key])
        }
    }
}

extension Transaction {
    func delete(object: any Model) throws {
        func open<T: Model>(_ object: T) throws { try delete(object) }
        try open(object)
    }
}
