import PolyStoreBackend
import PolyStoreCore
import TestModels

/// The relationships of ``GraphKind``, as ``GraphState`` knows them.
enum GraphRelationship: String, CaseIterable, Sendable {
    case department, friends, spouse  // of people
    case people, projects, departmentTags  // of departments
    case owner, parent  // of projects
    case tracks, extras, tags, similar, parts, whole, picks  // of playlists
    case playlist  // of tracks
    case lists  // of tags
    case sponsor, visits  // of humans
    case boss, reports  // of workers
    case party  // of visits

    enum Rule { case nullify, cascade, deny }

    /// The classes of the owners.
    var owners: [GraphKind] {
        switch self {
        case .department, .friends, .spouse: [.person]
        case .people, .projects, .departmentTags: [.department]
        case .owner, .parent: [.project]
        case .tracks, .extras, .tags, .similar, .parts, .whole, .picks: [.playlist]
        case .playlist: [.track]
        case .lists: [.tag]
        case .sponsor, .visits: [.human, .worker]
        case .boss, .reports: [.worker]
        case .party: [.visit]
        }
    }

    /// The classes of the targets.
    var targets: [GraphKind] {
        switch self {
        case .friends, .spouse, .people: [.person]
        case .department, .owner: [.department]
        case .projects, .departmentTags, .parent: [.project]
        case .tracks, .extras, .picks: [.track]
        case .tags: [.tag]
        case .similar, .parts, .whole, .playlist, .lists: [.playlist]
        case .sponsor, .party: [.human, .worker]
        case .boss, .reports: [.worker]
        case .visits: [.visit]
        }
    }

    var inverse: GraphRelationship? {
        switch self {
        case .department: .people
        case .friends: .friends
        case .spouse: .spouse
        case .people: .department
        case .projects: .owner
        case .owner: .projects
        case .tracks: .playlist
        case .playlist: .tracks
        case .tags: .lists
        case .lists: .tags
        case .similar: .similar
        case .parts: .whole
        case .whole: .parts
        case .visits: .party
        case .party: .visits
        case .boss: .reports
        case .reports: .boss
        case .departmentTags, .parent, .extras, .picks, .sponsor: nil
        }
    }

    var isToMany: Bool { ![.department, .spouse, .owner, .parent, .whole, .playlist, .sponsor, .boss, .party].contains(self) }
    var isOrdered: Bool { [.tracks, .extras, .tags, .similar, .parts, .picks, .lists].contains(self) }

    var rule: Rule {
        switch self {
        case .people: .deny
        case .projects, .parts, .visits: .cascade
        default: .nullify
        }
    }

    var isRequired: Bool { self == .owner }
    var maxCount: Int? { [.picks: 3, .reports: 2][self] }

    /// The name in the model.
    var name: String { self == .departmentTags ? "tags" : rawValue }

    static func of(_ kind: GraphKind) -> [GraphRelationship] { relationshipsOfKinds[kind] ?? [] }
    private static let relationshipsOfKinds = Dictionary(
        uniqueKeysWithValues: GraphKind.allCases.map { kind in (kind, allCases.filter { $0.owners.contains(kind) }) })

    /// Calls the function of a visitor that suits the relationship, with its key path.
    func accept<Visitor: GraphRelationshipVisitor>(_ visitor: Visitor) throws -> Visitor.Result {
        switch self {
        case .department: try visitor.one(\Person.department)
        case .friends: try visitor.set(\Person.friends)
        case .spouse: try visitor.one(\Person.spouse)
        case .people: try visitor.set(\Department.people)
        case .projects: try visitor.set(\Department.projects)
        case .departmentTags: try visitor.set(\Department.tags)
        case .owner: try visitor.one(\Project.owner)
        case .parent: try visitor.one(\Project.parent)
        case .tracks: try visitor.list(\Playlist.tracks)
        case .extras: try visitor.list(\Playlist.extras)
        case .tags: try visitor.list(\Playlist.tags)
        case .similar: try visitor.list(\Playlist.similar)
        case .parts: try visitor.list(\Playlist.parts)
        case .whole: try visitor.one(\Playlist.whole)
        case .picks: try visitor.list(\Playlist.picks)
        case .playlist: try visitor.one(\Track.playlist)
        case .lists: try visitor.list(\MusicTag.lists)
        case .sponsor: try visitor.one(\Party.sponsor)
        case .visits: try visitor.set(\Party.visits)
        case .boss: try visitor.one(\Worker.boss)
        case .reports: try visitor.set(\Worker.reports)
        case .party: try visitor.one(\Visit.party)
        }
    }
}

/// Does something with a relationship of any type.
protocol GraphRelationshipVisitor {
    associatedtype Result
    func one<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, Target?>) throws -> Result
    func set<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, Set<Target>>) throws -> Result
    func list<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, [Target]>) throws -> Result
}
