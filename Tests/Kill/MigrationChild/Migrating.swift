import Foundation
import PolyStoreBackend
import PolyStoreCore
import Synchronization
import TestModels

/// The store of an earlier version and its migration, which is killed and restarted.
enum Migrating {
    /// The earlier schema: invoices with the name of the customer in each, and invoice lines that belong to them.
    private static let earlier = SchemaDescription(
        name: "Kill 1",
        entities: [
            EntityDescription(
                name: "Invoice",
                properties: [
                    .attribute(AttributeDescription(name: "number", type: .int64, isUnique: true)),
                    .attribute(AttributeDescription(name: "customer", type: .string)),
                    .attribute(AttributeDescription(name: "cents", type: .int32)),
                    .relationship(RelationshipDescription(name: "follows", destination: "Invoice", isToMany: true)),
                ])
        ])

    private static let current = Schema("Kill 2", Invoice.self, Customer.self)

    /// The row id of the first invoice that this process has mapped, or 0.
    private static let firstMapped = Atomic<Int64>(0)

    private static let mapping = SchemaMapping(
        from: "Kill 1", to: "Kill 2",
        [
            .transform("Invoice", to: "Invoice") { old, migration in
                let isFirst = firstMapped.compareExchange(expected: 0, desired: old.rowID, ordering: .relaxed).exchanged
                if isFirst, old.rowID > 1 {
                    print("continued")
                    fflush(nil)
                }
                // Every hundredth invoice is dropped.
                if old.rowID % 100 == 0 { return }
                let invoice = try migration.copy(old, to: "Invoice")
                invoice["amount"] = old["cents"].flatMap { $0.int }.map { .decimal(Decimal($0) / 100) }
                let name = old["customer"] ?? ""
                let known = try migration.first("Customer", where: "name", equals: name)
                let customer = try known ?? migration.insert("Customer")
                customer["name"] = name
                invoice.set("customer", to: customer)
            }
        ])

    /// Creates a store of the earlier version.
    static func make(_ store: StoreConfiguration, _ count: Int) throws {
        let schema = try ResolvedSchema(earlier)
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        let entity = schema.entities[0]
        for start in stride(from: 0, to: count, by: 5_000) {
            let writer = try backend.beginWrite()
            let changes = ChangeSet(schema)
            let size = min(5_000, count - start)
            let first = try writer.reserveIDs(entity, count: size)
            for id in first..<first + Int64(size) {
                try changes.insert(entity, rowID: id) { builder in
                    try builder.set(entity.fields[0], .integer(id))
                    try builder.set(entity.fields[1], .text("Customer \(id % 50)"))
                    try builder.set(entity.fields[2], .integer(id % 1_000_000))
                }
                if id > 1, id % 10 == 0 {
                    changes.link(ChangeSet.LinkChange(table: 0, source: id, target: id - 1, isAddition: true))
                    changes.link(ChangeSet.LinkChange(table: 0, source: id - 1, target: id, isAddition: true))
                }
            }
            try writer.apply(changes)
            _ = try writer.commit(.full)
        }
        try backend.close()
    }

    /// Migrates the store, and prints whether it resumed an interrupted migration.
    static func migrate(_ store: StoreConfiguration) async throws {
        let stack = try DataStack(SchemaHistory(current, mappings: [mapping]))
        print("started")
        fflush(nil)
        try await stack.addStore(store, migrating: .chain)
        print(firstMapped.load(ordering: .relaxed) == 0 ? "migrated, continued" : "migrated")
    }

    /// Checks that the store is complete, in the old version or in the new one.
    ///
    /// - Parameter opensOld: Whether to open a store of the old version for writing, which removes the data of an interrupted migration.
    /// - Returns: The version.
    static func check(_ store: StoreConfiguration, _ count: Int, opensOld: Bool) throws -> String {
        let stack = try DataStack(SchemaHistory(current, mappings: [mapping]), logger: SilentLogger())
        guard try stack.requiredMigrationsAndWait(for: store).isEmpty else {
            if opensOld { try checkOld(store, count) }
            return "old"
        }
        let added = try stack.addStore(store)
        let findings = try added.verifyAndWait()
        guard findings.isEmpty else { fail("verify: \(findings.prefix(5))") }
        try stack.readAndWait { context in
            let invoices = try context.fetchAll(From<Invoice>())
            guard invoices.count == count - count / 100 else { fail("\(invoices.count) invoices of \(count)") }
            for invoice in invoices {
                let id = invoice.objectID.rowID
                guard invoice.number == Int(id), invoice.amount == Decimal(Int(id % 1_000_000)) / 100,
                    invoice.customer?.name == "Customer \(id % 50)"
                else { fail("invoice \(id) is wrong") }
                let others: Set<Int64> =
                    id % 10 == 0 && id > 1 && id % 100 != 0
                    ? [id - 1] : id % 10 == 9 && (id + 1) % 100 != 0 && id + 1 <= Int64(count) ? [id + 1] : []
                guard Set(invoice.follows.map(\.objectID.rowID)) == others else {
                    fail("invoice \(id) follows \(invoice.follows.map(\.objectID.rowID))")
                }
            }
            let customers = try context.fetchCount(From<Customer>())
            guard customers == min(50, count) else { fail("\(customers) customers") }
        }
        return "new"
    }

    private static func checkOld(_ store: StoreConfiguration, _ count: Int) throws {
        let schema = try ResolvedSchema(earlier)
        let backend = try store.open(schema: schema, configurationName: nil, logger: SilentLogger())
        let findings = try backend.verify()
        guard findings.isEmpty else { fail("verify of the old version: \(findings.prefix(5))") }
        let reader = try backend.beginRead()
        let entity = schema.entities[0]
        let cursor = try reader.fetch(FetchRequest(entity))
        var seen = 0
        while try cursor.next() {
            seen += 1
            guard cursor.rowID == Int64(seen), cursor.record.integer(0) == cursor.rowID,
                cursor.record.string(1) == "Customer \(cursor.rowID % 50)"
            else {
                fail("invoice \(cursor.rowID) of the old version is wrong")
            }
        }
        cursor.close()
        reader.end()
        guard seen == count else { fail("\(seen) invoices of \(count) in the old version") }
        try backend.close()
    }
}
