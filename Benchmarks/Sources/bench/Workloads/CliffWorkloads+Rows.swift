import PeerKit
import PolyStoreCore

extension CliffWorkloads {
    /// All rows. Those of relationships run in every kind of transaction, also with their commit.
    static var rows: [Row] {
        Kind.allCases.flatMap { kind in
            relationshipRows.flatMap { row in
                [false, true].map { commits in
                    Row(
                        name: row.name + (kind == .perform ? "" : "-" + kind.rawValue) + (commits ? "-commit" : ""), kind: kind,
                        commits: commits, fill: row.fill, before: row.before, body: row.body)
                }
            }
        } + countRows + fetchRows + undoRows
    }

    private static func fillPeople(_ scene: Scene) { for item in scene.items { item.holder = scene.first } }
    private static func fillTracks(_ scene: Scene) { for item in scene.items { item.album = scene.first } }
    private static func fillBoth(_ scene: Scene) { for item in scene.items { (item.holder, item.album) = (scene.first, scene.first) } }
    private static func fillMarks(_ scene: Scene) { scene.first.marks = Set(scene.items) }
    private static func readTags(_ scene: Scene) { sink &+= UInt64(scene.first.tags.count) }
    private static func readPeople(_ scene: Scene) { sink &+= UInt64(scene.first.people.count) }
    private static func readBoth(_ scene: Scene) { sink &+= UInt64(scene.first.people.count + scene.first.tracks.count) }
    private static func fillTags(_ scene: Scene) { scene.first.tags = Set(scene.items) }

    private static var relationshipRows: [Row] {
        [
            Row(name: "insert") { scene in for item in scene.items { scene.first.people.insert(item) } },
            Row(name: "append") { scene in for item in scene.items { scene.first.tracks.append(item) } },
            Row(name: "prepend") { scene in for item in scene.items { scene.first.tracks.insert(item, at: 0) } },
            Row(name: "insert-tag") { scene in for item in scene.items { scene.first.tags.insert(item) } },
            Row(name: "insert-mark") { scene in for item in scene.items { scene.first.marks.insert(item) } },
            Row(name: "remove", fill: fillPeople) { scene in for item in scene.items { scene.first.people.remove(item) } },
            Row(name: "remove-last", fill: fillTracks) { scene in for _ in scene.items { scene.first.tracks.removeLast() } },
            Row(name: "assign") { scene in scene.first.tags = Set(scene.items) },
            Row(name: "clear", fill: fillTags) { scene in scene.first.tags = [] },
            Row(name: "clear-list", fill: fillTracks) { scene in scene.first.tracks = [] },
            Row(name: "delete-owner", fill: fillTags) { scene in try scene.transaction.delete(scene.first) },
            Row(name: "delete-owner-nullify", fill: fillPeople) { scene in try scene.transaction.delete(scene.first) },
            Row(name: "delete-members", fill: fillTags, before: readTags) { scene in
                try scene.transaction.delete(scene.items)
            },
            Row(
                name: "delete-members-each",
                fill: fillBoth,
                before: readBoth
            ) { scene in for item in scene.items { try scene.transaction.delete(item) } },
            Row(name: "delete-marked", fill: fillMarks) { scene in
                scene.second.marks = Set(scene.items)
                for item in scene.items { try scene.transaction.delete(item) }
            },
            Row(name: "insert-inverse", before: readTags) { scene in
                for item in scene.items { item.holders.insert(scene.first) }
            },
            Row(name: "to-one", before: readBoth) { scene in
                for item in scene.items { (item.holder, item.album) = (scene.first, scene.first) }
            },
            Row(name: "to-one-away", fill: fillPeople, before: readPeople) { scene in
                for item in scene.items { item.holder = nil }
            },
            Row(name: "move", fill: fillPeople) { scene in
                for item in scene.items {
                    scene.first.people.remove(item)
                    scene.second.people.insert(item)
                }
            },
            Row(name: "move-both-ends", fill: fillPeople) { scene in
                for (number, item) in scene.items.enumerated() {
                    if number % 2 == 0 { scene.second.people.insert(item) } else { item.holder = scene.second }
                }
            },
        ]
    }

    private static var undoRows: [Row] {
        [
            Row(name: "undo", kind: .unsafe) { scene in
                guard let draft = scene.transaction as? UnsafeTransaction else { return }
                for item in scene.items {
                    item.number += 1
                    draft.flush()
                }
                for _ in scene.items { try draft.undo() }
            },
            Row(name: "undo-insert", kind: .unsafe) { scene in
                guard let draft = scene.transaction as? UnsafeTransaction else { return }
                for item in scene.items {
                    item.holder = scene.first
                    draft.flush()
                }
                for _ in scene.items { try draft.undo() }
                for _ in scene.items { try draft.redo() }
            },
            Row(name: "undo-append", kind: .unsafe) { scene in
                guard let draft = scene.transaction as? UnsafeTransaction else { return }
                for item in scene.items {
                    scene.first.tracks.append(item)
                    draft.flush()
                }
                for _ in scene.items { try draft.undo() }
            },
            Row(name: "undo-create", kind: .unsafe) { scene in
                guard let draft = scene.transaction as? UnsafeTransaction else { return }
                for _ in scene.items {
                    try draft.create(Into<Item>()).album = scene.first
                    draft.flush()
                }
                for _ in scene.items { try draft.undo() }
            },
        ]
    }
}
