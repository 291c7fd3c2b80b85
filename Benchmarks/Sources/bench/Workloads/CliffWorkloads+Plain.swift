import PeerKit
import PolyStoreCore

/// The work of the rows of W20 with plain Swift classes and collections: the cost of memory and caches without a framework.
///
/// Maintains both ends of each relationship and a dictionary of changed objects; a commit writes a record of each of them, in order of their ids, to aother
/// dictionary.
enum PlainCliffs {
    final class Item: Hashable {
        let id: Int64
        var holder: Holder?
        var album: Holder?
        var holders: Set<Holder> = []

        init(_ id: Int64) { self.id = id }

        static func == (left: Item, right: Item) -> Bool { left === right }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    final class Holder: Hashable {
        var people: Set<Item> = []
        var tracks: [Item] = []
        var tags: Set<Item> = []
        var marks: Set<Item> = []

        static func == (left: Holder, right: Holder) -> Bool { left === right }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    final class Scene {
        let first = Holder()
        let second = Holder()
        let items: [Item]
        var changed: [Int64: UInt64] = [:]
        var deleted: Set<Int64> = []
        var stored: [Int64: [UInt8]] = [:]

        init(_ n: Int) {
            items = (0..<n).map { Item(Int64($0)) }
            for item in items { stored[item.id] = record(item) }
        }

        private func record(_ item: Item) -> [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: item.id), count: 48) }
        func change(_ item: Item) { changed[item.id, default: 0] |= 1 }

        func commit() {
            for id in changed.keys.sorted() { stored[id] = record(items[Int(id)]) }
            for id in deleted.sorted() { stored[id] = nil }
        }

        /// Breaks the reference cycles.
        func release() {
            for holder in [first, second] { (holder.people, holder.tracks, holder.tags, holder.marks) = ([], [], [], []) }
            for item in items { (item.holder, item.album, item.holders) = (nil, nil, []) }
        }
    }

    @Sendable private static func fillPeople(_ scene: Scene) {
        scene.first.people = Set(scene.items)
        for item in scene.items { item.holder = scene.first }
    }
    @Sendable private static func fillTracks(_ scene: Scene) {
        scene.first.tracks = scene.items
        for item in scene.items { item.album = scene.first }
    }
    @Sendable private static func fillTags(_ scene: Scene) {
        scene.first.tags = Set(scene.items)
        for item in scene.items { item.holders = [scene.first] }
    }
    @Sendable private static func delete(_ scene: Scene, _ item: Item) {
        item.holder?.people.remove(item)
        for holder in item.holders { holder.tags.remove(item) }
        scene.first.marks.remove(item)
        scene.second.marks.remove(item)
        scene.deleted.insert(item.id)
    }

    /// The work by the name of its row.
    private static let rows: [(name: String, fill: @Sendable (Scene) -> Void, body: @Sendable (Scene) -> Void)] = [
        (
            "insert", { _ in },
            { scene in
                for item in scene.items {
                    scene.first.people.insert(item)
                    item.holder = scene.first
                    scene.change(item)
                }
            }
        ),
        (
            "append", { _ in },
            { scene in
                for item in scene.items {
                    scene.first.tracks.append(item)
                    item.album = scene.first
                    scene.change(item)
                }
            }
        ),
        (
            "prepend", { _ in },
            { scene in
                for item in scene.items {
                    scene.first.tracks.insert(item, at: 0)
                    item.album = scene.first
                    scene.change(item)
                }
            }
        ),
        (
            "insert-tag", { _ in },
            { scene in
                for item in scene.items {
                    scene.first.tags.insert(item)
                    item.holders.insert(scene.first)
                    scene.change(item)
                }
            }
        ),
        (
            "insert-mark", { _ in },
            { scene in
                for item in scene.items {
                    scene.first.marks.insert(item)
                    scene.change(item)
                }
            }
        ),
        (
            "remove", fillPeople,
            { scene in
                for item in scene.items {
                    scene.first.people.remove(item)
                    item.holder = nil
                    scene.change(item)
                }
            }
        ),
        (
            "remove-last", fillTracks,
            { scene in
                for _ in scene.items {
                    let item = scene.first.tracks.removeLast()
                    item.album = nil
                    scene.change(item)
                }
            }
        ),
        (
            "assign", { _ in },
            { scene in
                scene.first.tags = Set(scene.items)
                for item in scene.first.tags { scene.change(item) }
            }
        ),
        (
            "clear", fillTags,
            { scene in
                for item in scene.first.tags {
                    item.holders.remove(scene.first)
                    scene.change(item)
                }
                scene.first.tags = []
            }
        ),
        (
            "clear-list", fillTracks,
            { scene in
                for item in scene.first.tracks {
                    item.album = nil
                    scene.change(item)
                }
                scene.first.tracks = []
            }
        ),
        (
            "delete-owner", fillTags,
            { scene in
                for item in scene.first.tags {
                    item.holders.remove(scene.first)
                    scene.change(item)
                }
                scene.first.tags = []
            }
        ),
        (
            "delete-owner-nullify", fillPeople,
            { scene in
                for item in scene.first.people {
                    item.holder = nil
                    scene.change(item)
                }
                scene.first.people = []
            }
        ),
        ("delete-members", fillTags, { scene in for item in scene.items { delete(scene, item) } }),
        (
            "delete-members-each",
            { scene in
                fillPeople(scene)
                fillTracks(scene)
            },
            { scene in
                for item in scene.items { delete(scene, item) }
                scene.first.tracks.removeAll { scene.deleted.contains($0.id) }
            }
        ),
        (
            "delete-marked", { scene in scene.first.marks = Set(scene.items) },
            { scene in
                scene.second.marks = Set(scene.items)
                for item in scene.items { delete(scene, item) }
            }
        ),
        (
            "insert-inverse", { _ in },
            { scene in
                for item in scene.items {
                    item.holders.insert(scene.first)
                    scene.first.tags.insert(item)
                    scene.change(item)
                }
            }
        ),
        (
            "to-one", { _ in },
            { scene in
                for item in scene.items {
                    (item.holder, item.album) = (scene.first, scene.first)
                    scene.first.people.insert(item)
                    scene.first.tracks.append(item)
                    scene.change(item)
                }
            }
        ),
        (
            "to-one-away", fillPeople,
            { scene in
                for item in scene.items {
                    item.holder = nil
                    scene.first.people.remove(item)
                    scene.change(item)
                }
            }
        ),
        (
            "move", fillPeople,
            { scene in
                for item in scene.items {
                    scene.first.people.remove(item)
                    scene.second.people.insert(item)
                    item.holder = scene.second
                    scene.change(item)
                }
            }
        ),
        (
            "move-both-ends", fillPeople,
            { scene in
                for item in scene.items {
                    item.holder = scene.second
                    scene.first.people.remove(item)
                    scene.second.people.insert(item)
                    scene.change(item)
                }
            }
        ),
    ]

    /// Prints the time of each row and of its commit, with `plain ` before the name.
    static func all(_ out: Reporter, _ sizes: [Int], turns: Int, wanted: Set<String>?) {
        for (name, fill, body) in rows {
            for commits in [false, true] {
                let full = name + (commits ? "-commit" : "")
                guard wanted?.contains(full) ?? true else { continue }
                for n in sizes {
                    var (wall, cpu) = (Double.infinity, Double.infinity)
                    for _ in 0..<turns {
                        let scene = Scene(n)
                        fill(scene)
                        let start = Stamp()
                        body(scene)
                        if commits { scene.commit() }
                        let end = Stamp()
                        (wall, cpu) = (min(wall, end.wall - start.wall), min(cpu, end.cpu - start.cpu))
                        scene.release()
                    }
                    out.emit("W20 plain " + full, n, seconds: wall, cpu: cpu)
                }
            }
        }
    }
}
