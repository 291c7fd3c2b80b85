import PolyStore

@Model(subentities: "Dog")
class Animal {
    var name: String = ""
    @Attribute(.indexed) var age: Int = 0
    var city: String?
    @Relationship(inverse: "animals") var owner: Owner?
    @Relationship(inverse: "friends") var friends: Set<Animal>
}

@Model
final class Dog: Animal {
    var tricks: Int = 0
}

@Model
final class Owner {
    var title: String = ""
    @Relationship var animals: Set<Animal>
}

let monitorSchema = Schema("Monitors", Animal.self, Dog.self, Owner.self)
let twoStoreSchema = Schema(
    "Monitors", [Animal.self, Dog.self, Owner.self],
    configurations: ["First": [Animal.self, Dog.self, Owner.self], "Second": [Animal.self, Dog.self, Owner.self]])

/// A list that tests observe: its fetch and its sections.
struct ListShape: Sendable {
    let name: String
    let source: FetchChain<Animal>
    /// The fetch to compare with, if the order of the source is incomplete.
    var expected: FetchChain<Animal>?
    var sectionBy: SectionBy<Animal>?
    var sectionName: @Sendable (Animal) -> String = { _ in "" }

    static let all: [ListShape] = [
        ListShape(name: "all by name", source: From<Animal>().orderBy(.ascending(\.name))),
        ListShape(name: "without order", source: From<Animal>().where(\.age < 60)),
        ListShape(
            name: "condition, two keys", source: From<Animal>().where(\.age > 30).orderBy(.descending(\.age), .ascending(\.name))),
        ListShape(name: "nulls last", source: From<Animal>().orderBy(.ascending(\.city, nulls: .last), .descending(\.name))),
        ListShape(
            name: "decades", source: From<Animal>().orderBy(.ascending(\.age), .ascending(\.name)),
            sectionBy: SectionBy(\.age) { "\($0 / 10)0s" }, sectionName: { "\($0.age / 10)0s" }),
        ListShape(
            name: "cities", source: From<Animal>().where(\.age > 10).orderBy(.descending(\.city), .ascending(\.age)),
            sectionBy: SectionBy(\.city), sectionName: { $0.city ?? "" }),
        ListShape(
            name: "cities, order not given", source: From<Animal>().orderBy(.ascending(\.name)),
            expected: From<Animal>().orderBy(.ascending(\.city), .ascending(\.name)), sectionBy: SectionBy("city"),
            sectionName: { $0.city ?? "" }),
        ListShape(
            name: "odd and even", source: From<Animal>().orderBy(.ascending(\.age)),
            sectionBy: SectionBy(\.age) { $0 % 2 == 0 ? "even" : "odd" }, sectionName: { $0.age % 2 == 0 ? "even" : "odd" }),
        ListShape(
            name: "owners", source: From<Animal>().orderBy(.ascending(\.owner?.title), .ascending(\.name)),
            sectionBy: SectionBy(\.owner?.title) { $0 ?? "nobody's" }, sectionName: { $0.owner?.title ?? "nobody's" }),
        ListShape(name: "limit", source: From<Animal>().orderBy(.ascending(\.name)).limit(5)),
        ListShape(name: "offset", source: From<Animal>().where(\.age > 5).orderBy(.descending(\.age)).limit(4).offset(2)),
        ListShape(
            name: "condition on owners", source: From<Animal>().where(\.owner?.title == "T1").orderBy(.ascending(\.age))),
        ListShape(name: "by friends", source: From<Animal>().orderBy(.descending("friends.@count"), .ascending(\.name))),
        ListShape(
            name: "friends' ages", source: From<Animal>().where(Where("ANY friends.age > 50")).orderBy(.ascending(\.name))),
        ListShape(
            name: "letters without case",
            source: From<Animal>().where(Where("name BEGINSWITH[c] 'a' OR age > 40")).orderBy(
                .ascending(\.name, options: [.caseInsensitive]))),
    ]

    /// Fetches the objects of the list in their sections.
    func fetch(_ context: Context) throws -> [(name: String, objects: [Animal])] {
        var groups: [(name: String, objects: [Animal])] = sectionBy == nil ? [("", [])] : []
        for animal in try context.fetchAll(expected ?? source) {
            let name = sectionName(animal)
            if let index = groups.firstIndex(where: { $0.name == name }) {
                groups[index].objects.append(animal)
            } else {
                groups.append((name, [animal]))
            }
        }
        return groups
    }
}
