import PolyStoreBackend

/// A small company in two forms: as rows of a store, and as plain values from which expected results are computed.
///
/// Relationships of every storage: Worker.team (foreign key) ⇄ Team.members (inverse), Worker.boss ⇄ Worker.reports (the same, to itself),
/// Worker.spouse (foreign keys at both ends), Worker.friends (symmetric link), Worker.clubs (link) ⇄ Club.members (reversed link), Team.tags (one way).
struct Works: Sendable {
    struct Worker: Sendable {
        var name: String?
        var age: Int64?
        var score: Double?
        var level: UInt64?
        var born: Double?
        var team: Int64?
        var boss: Int64?
        var spouse: Int64?
        var friends: [Int64] = []
        var clubs: [Int64] = []
    }
    struct Team: Sendable {
        var title: String
        var budget: Int64?
        var tags: [Int64] = []
    }
    struct Club: Sendable {
        var name: String
        var rating: Double?
    }

    var workers: [Int64: Worker]
    var teams: [Int64: Team]
    var clubs: [Int64: Club]

    static let schema: SchemaDescription = {
        func attribute(_ name: String, _ type: AttributeType, isIndexed: Bool = false) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true, isIndexed: isIndexed))
        }
        func relationship(_ name: String, _ destination: String, isToMany: Bool, _ inverse: String? = nil) -> PropertyDescription {
            .relationship(RelationshipDescription(name: name, destination: destination, isToMany: isToMany, inverse: inverse))
        }
        let worker = [
            attribute("name", .string, isIndexed: true), attribute("age", .int64, isIndexed: true), attribute("score", .double),
            attribute("level", .uint64), attribute("born", .date), relationship("team", "Team", isToMany: false, "members"),
            relationship("boss", "Worker", isToMany: false, "reports"), relationship("spouse", "Worker", isToMany: false, "spouse"),
            relationship("reports", "Worker", isToMany: true), relationship("friends", "Worker", isToMany: true, "friends"),
            relationship("clubs", "Club", isToMany: true, "members"),
        ]
        let team = [
            attribute("title", .string, isIndexed: true), attribute("budget", .int64, isIndexed: true),
            relationship("members", "Worker", isToMany: true), relationship("tags", "Club", isToMany: true),
        ]
        let club = [
            attribute("name", .string, isIndexed: true), attribute("rating", .double), relationship("members", "Worker", isToMany: true),
        ]
        return SchemaDescription(
            name: "Works",
            entities: [
                EntityDescription(name: "Worker", properties: worker), EntityDescription(name: "Team", properties: team),
                EntityDescription(name: "Club", properties: club),
            ])
    }()

    static let start = Works(
        workers: [
            1: Worker(name: "Ada", age: 30, score: 1.5, level: 0, born: 0, team: 1, spouse: 2, friends: [2, 3], clubs: [1, 2]),
            2: Worker(name: "ada", age: 25, level: .max, born: 100, team: 1, boss: 1, spouse: 1, friends: [1], clubs: [1]),
            3: Worker(name: "Bob", score: -2, level: 1 << 63, born: -50, team: 2, boss: 1, friends: [1, 4], clubs: [3]),
            4: Worker(age: 40, score: .nan, level: 7, team: 2, boss: 2, friends: [3]),
            5: Worker(name: "Ångström", age: 25, score: 0.5, born: 0.25, team: 3, friends: [5], clubs: [2, 3]),
            6: Worker(name: "angstrom", age: 30, score: .infinity, level: 5, boss: 5, spouse: 7),
            7: Worker(name: "Straße", age: 0, level: 5, born: 1e9, boss: 7, spouse: 6, clubs: [1]),
            8: Worker(name: "", age: .max, score: 2, level: 9, team: 1, boss: 3),
            9: Worker(name: "STRASSE", age: .min, score: 1e300, level: 1, team: 3, boss: 8, friends: [10]),
            10: Worker(name: "a*b?", age: -1, score: 0.1, level: 2, friends: [9], clubs: [3]),
        ],
        teams: [
            1: Team(title: "red", budget: 100, tags: [1, 2]), 2: Team(title: "green", budget: 50, tags: [2]), 3: Team(title: "blue"),
            4: Team(title: "empty", budget: 0, tags: [3]),
        ],
        clubs: [
            1: Club(name: "chess", rating: 4.5), 2: Club(name: "golf"), 3: Club(name: "judo", rating: 1), 4: Club(name: "void", rating: 2),
        ])

    // MARK: Related objects

    func ids(_ entity: String) -> [Int64] {
        switch entity {
        case "Worker": workers.keys.sorted()
        case "Team": teams.keys.sorted()
        default: clubs.keys.sorted()
        }
    }

    subscript(_ id: Int64) -> Worker { workers[id] ?? Worker() }
    func team(_ id: Int64) -> Team? { self[id].team.flatMap { teams[$0] } }
    func boss(_ id: Int64) -> Worker? { self[id].boss.flatMap { workers[$0] } }
    func spouse(_ id: Int64) -> Worker? { self[id].spouse.flatMap { workers[$0] } }
    func members(team id: Int64) -> [Int64] { ids("Worker").filter { self[$0].team == id } }
    func members(club id: Int64) -> [Int64] { ids("Worker").filter { self[$0].clubs.contains(id) } }
    func reports(_ id: Int64) -> [Int64] { ids("Worker").filter { self[$0].boss == id } }

    // MARK: In a store

    /// Opens a store with these contents.
    func open(_ run: ConformanceRun, _ name: String = "store") throws -> WorksStore {
        let store = try run.open(Self.schema, name)
        let works = try WorksStore(store)
        let (worker, team, club) = (try store.entity("Worker"), try store.entity("Team"), try store.entity("Club"))
        let (friends, clubs) = (try store.relationship("Worker", "friends"), try store.relationship("Worker", "clubs"))
        try store.change { changes in
            for id in ids("Team") {
                guard let row = teams[id] else { continue }
                try changes.insert(team, rowID: id, [.text(row.title), row.budget.map { .integer($0) } ?? .null])
                for tag in row.tags { changes.link(try store.pair(try store.relationship("Team", "tags"), id, tag)) }
            }
            for id in ids("Club") {
                guard let row = self.clubs[id] else { continue }
                try changes.insert(club, rowID: id, [.text(row.name), row.rating.map { .real($0) } ?? .null])
            }
            for id in ids("Worker") {
                try changes.insert(worker, rowID: id, Self.row(self[id]))
                for friend in self[id].friends { changes.link(try store.pair(friends, id, friend)) }
                for one in self[id].clubs { changes.link(try store.pair(clubs, id, one)) }
            }
        }
        return works
    }

    private static func row(_ worker: Worker) -> [Value] {
        [
            worker.name.map { .text($0) } ?? .null, worker.age.map { .integer($0) } ?? .null, worker.score.map { .real($0) } ?? .null,
            worker.level.map { .integer(Int64(bitPattern: $0)) } ?? .null, worker.born.map { .real($0) } ?? .null,
            worker.team.map { .integer($0) } ?? .null, worker.boss.map { .integer($0) } ?? .null,
            worker.spouse.map { .integer($0) } ?? .null,
        ]
    }

    /// Applies changes that affect everything the conditions refer to, and returns the resulting company.
    func changed(_ store: WorksStore, _ changes: ChangeSet) throws -> Works {
        var after = self
        let worker = try store.store.entity("Worker")
        let (friends, clubs) = (try store.store.relationship("Worker", "friends"), try store.store.relationship("Worker", "clubs"))
        // Worker 3 moves to the empty team and becomes the boss of 2; 5 leaves; 8 gets friends and a club; the red team is renamed; 11 joins.
        after.workers[3]?.team = 4
        after.workers[2]?.boss = 3
        after.workers[6]?.boss = nil
        after.workers[5] = nil
        try changes.update(worker, rowID: 3, ["team": .integer(4)])
        try changes.update(worker, rowID: 2, ["boss": .integer(3)])
        try changes.update(worker, rowID: 6, ["boss": .null])
        changes.delete(worker, rowID: 5)
        changes.link(try store.store.pair(friends, 5, 5, isAddition: false))
        for club in self[5].clubs { changes.link(try store.store.pair(clubs, 5, club, isAddition: false)) }
        after.workers[8]?.friends = [1]
        after.workers[1]?.friends = [2, 3, 8]
        after.workers[8]?.clubs = [4]
        changes.link(try store.store.pair(friends, 8, 1))
        changes.link(try store.store.pair(friends, 1, 8))
        changes.link(try store.store.pair(clubs, 8, 4))
        after.teams[1]?.title = "crimson"
        try changes.update(try store.store.entity("Team"), rowID: 1, ["title": .text("crimson")])
        let fresh = Worker(name: "red", age: 25, score: 3, level: 3, team: 2, boss: 4, clubs: [2])
        after.workers[11] = fresh
        try changes.insert(worker, rowID: 11, Self.row(fresh))
        changes.link(try store.store.pair(clubs, 11, 2))
        return after
    }
}
