import PeerKit
import PolyStoreCore

extension CliffWorkloads {
    private static func changeOne(_ scene: Scene) { scene.items[0].number = -1 }
    private static func fetch(_ scene: Scene, _ chain: FetchChain<Item>) throws {
        sink &+= UInt64(try scene.transaction.fetchAll(chain).count)
    }
    /// The store has items with numbers from 0; new items have numbers from −1 downwards.
    private static func create(_ scene: Scene, _ number: Int) throws { try scene.transaction.create(Into<Item>()).number = -number - 1 }

    private static func createAll(_ scene: Scene) throws { for number in scene.items.indices { try create(scene, number) } }
    private static func deleteFirst(_ scene: Scene, _ chain: FetchChain<Item>) throws {
        while let item = try scene.transaction.fetchOne(chain) { try scene.transaction.delete(item) }
    }

    static var countRows: [Row] {
        [
            Row(name: "create-count") { scene in
                for _ in scene.items {
                    _ = try scene.transaction.create(Into<Item>())
                    sink &+= UInt64(try scene.transaction.fetchCount(From<Item>()))
                }
            },
            Row(name: "create-count-where") { scene in
                let source = From<Item>().where(\.number < 0)
                for item in scene.items {
                    try scene.transaction.create(Into<Item>()).number = -item.number
                    sink &+= UInt64(try scene.transaction.fetchCount(source))
                }
            },
            Row(name: "change-count") { scene in
                let source = From<Item>().where(\.number >= 0)
                for item in scene.items {
                    item.number = -item.number - 1
                    sink &+= UInt64(try scene.transaction.fetchCount(source))
                }
            },
            Row(name: "delete-count") { scene in
                for item in scene.items {
                    try scene.transaction.delete(item)
                    sink &+= UInt64(try scene.transaction.fetchCount(From<Item>()))
                }
            },
        ]
    }

    /// Fetches between changes. Each selects few objects or has a limit, so the size of the results does not depend on n.
    static var fetchRows: [Row] {
        [
            Row(name: "create-fetch") { scene in
                for number in scene.items.indices {
                    try create(scene, number)
                    try fetch(scene, From<Item>().where(\.number == -number - 1))
                }
            },
            Row(name: "create-fetch-range") { scene in
                let chain = From<Item>().where(\.number < 0 && \.number > -10)
                for number in scene.items.indices {
                    try create(scene, number)
                    try fetch(scene, chain)
                }
            },
            Row(name: "create-fetch-ranges") { scene in
                for number in scene.items.indices {
                    try create(scene, number)
                    try fetch(scene, From<Item>().where(\.number <= -number && \.number > -number - 10))
                }
            },
            Row(name: "create-fetch-limit") { scene in
                let chain = From<Item>().where(\.number < 0).orderBy(.descending(\.number)).limit(10)
                for number in scene.items.indices {
                    try create(scene, number)
                    try fetch(scene, chain)
                }
            },
            Row(name: "create-fetch-page") { scene in
                for number in scene.items.indices {
                    try create(scene, number)
                    try fetch(scene, From<Item>().limit(10))
                }
            },
            Row(name: "create-fetch-text") { scene in
                let source = From<Holder>().where(.endsWith(\.name, "!"))
                for number in scene.items.indices {
                    try scene.transaction.create(Into<Holder>()).name = number < 10 ? "\(number)!" : "\(number)"
                    sink &+= UInt64(try scene.transaction.fetchAll(source).count)
                }
            },
            Row(name: "change-fetch-range") { scene in
                let chain = From<Item>().where(\.number < 0 && \.number > -10)
                for item in scene.items {
                    item.number = -item.number - 1
                    try fetch(scene, chain)
                }
            },
            Row(name: "change-fetch-limit") { scene in
                let chain = From<Item>().where(\.number < 0).orderBy(.ascending(\.number)).limit(10)
                for item in scene.items {
                    item.number = -item.number - 1
                    try fetch(scene, chain)
                }
            },
            Row(name: "delete-fetch-range") { scene in
                let chain = From<Item>().where(\.number < 10)
                for item in scene.items {
                    try scene.transaction.delete(item)
                    try fetch(scene, chain)
                }
            },
            // Fetches the first object, which is then deleted or no longer matches, until no object remains.
            Row(name: "fetch-first-delete") { scene in try deleteFirst(scene, From<Item>().orderBy(.ascending(\.number))) },
            Row(name: "fetch-last-delete") { scene in try deleteFirst(scene, From<Item>().orderBy(.descending(\.number))) },
            Row(name: "fetch-first-delete-by-id") { scene in try deleteFirst(scene, From<Item>().limit(1)) },
            Row(name: "fetch-first-delete-created", before: createAll) { scene in
                try deleteFirst(scene, From<Item>().where(\.number < 0).orderBy(.ascending(\.number)))
            },
            Row(name: "fetch-first-change") { scene in
                let chain = From<Item>().where(\.number >= 0).orderBy(.ascending(\.number))
                while let item = try scene.transaction.fetchOne(chain) { item.number = -item.number - 1 }
            },
            // The same work for any size of the store: a page of the list while one change is pending.
            Row(name: "page-pending", before: changeOne) { scene in
                for _ in 0..<1000 { sink &+= UInt64(try scene.transaction.fetchAll(From<Item>().limit(10)).count) }
            },
        ]
    }
}
