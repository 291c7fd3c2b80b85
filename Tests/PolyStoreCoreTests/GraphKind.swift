import PolyStoreCore
import TestModels

/// The classes of the objects that ``GraphFuzzTests`` creates.
enum GraphKind: String, CaseIterable, Sendable {
    case person, department, project, playlist, track, tag, human, worker, visit

    static let schema: [any Model.Type] = [
        Person.self, Department.self, Project.self, Playlist.self, Track.self, MusicTag.self, Party.self, Visit.self,
    ]

    /// The class whose objects share row ids with this one.
    var family: GraphKind { self == .worker ? .human : self }

    static var families: [GraphKind] { allCases.filter { $0.family == $0 } }

    var type: any Model.Type {
        switch self {
        case .person: Person.self
        case .department: Department.self
        case .project: Project.self
        case .playlist: Playlist.self
        case .track: Track.self
        case .tag: MusicTag.self
        case .human: Human.self
        case .worker: Worker.self
        case .visit: Visit.self
        }
    }

    /// The class of an object.
    init?(_ object: any Model) {
        // `is` would find the superclass of a worker.
        guard let kind = Self.allCases.first(where: { Swift.type(of: object) == $0.type }) else { return nil }
        self = kind
    }

    /// The number of attributes that programs assign.
    var attributeCount: Int { [.person, .human, .worker].contains(self) ? 2 : 1 }

    /// Returns an attribute of an object as a number.
    static func number(_ object: any Model, _ attribute: Int) -> Int {
        func parsed(_ text: String?) -> Int { text.flatMap { Int($0) } ?? 0 }
        switch object {
        case let person as Person: return attribute == 0 ? person.age : parsed(person.nickname)
        case let human as Human: return attribute == 0 ? human.age : parsed(human.name)
        case let department as Department: return parsed(department.title)
        case let project as Project: return parsed(project.name)
        case let playlist as Playlist: return parsed(playlist.title)
        case let track as Track: return parsed(track.title)
        case let tag as MusicTag: return parsed(tag.name)
        case let visit as Visit: return visit.day
        default: return 0
        }
    }

    static func setNumber(_ object: any Model, _ attribute: Int, _ number: Int) {
        switch object {
        case let person as Person: if attribute == 0 { person.age = number } else { person.nickname = "\(number)" }
        case let human as Human: if attribute == 0 { human.age = number } else { human.name = "\(number)" }
        case let department as Department: department.title = "\(number)"
        case let project as Project: project.name = "\(number)"
        case let playlist as Playlist: playlist.title = "\(number)"
        case let track as Track: track.title = "\(number)"
        case let tag as MusicTag: tag.name = "\(number)"
        case let visit as Visit: visit.day = number
        default: break
        }
    }
}
