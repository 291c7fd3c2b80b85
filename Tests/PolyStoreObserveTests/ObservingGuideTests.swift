import Foundation
import Observation
import PolyStore
import PolyStoreMemory
import Testing

// The programs of docs/guides/observing.md.

@Model
final class Invoice {
    var customer: String = ""
    var amount: Double = 0
    var isPaid: Bool = false
    @Relationship(inverse: "invoices") var account: Account?
}

@Model
final class Account {
    var title: String = ""
    @Relationship var invoices: Set<Invoice>
}

private func makeStack() throws -> DataStack {
    let stack = try DataStack(Schema("Invoices", Invoice.self, Account.self))
    try stack.addStore(.inMemory())
    try stack.performAndWait { transaction throws in
        for (customer, amount) in [("Ito", 100.0), ("Ahn", 40.0), ("Lee", 60.0)] {
            let invoice = try transaction.create(Into<Invoice>())
            (invoice.customer, invoice.amount) = (customer, amount)
        }
    }
    return stack
}

private func pay(_ stack: DataStack) async throws {
    try await stack.perform { transaction in
        for invoice in try transaction.fetchAll(From<Invoice>(), Where(\.customer == "Ahn")) { try transaction.edit(invoice).isPaid = true }
    }
}

/// A stand-in for a connection from a server to a client.
private final class Connection {
    var sent: [String] = []
    func send(_ text: String) { sent.append(text) }
}

@Suite struct ObservingGuideTests {
    @Test func snapshots() async throws {
        let stack = try makeStack()
        var texts: [String] = []
        let open = From<Invoice>().where { !$0.isPaid }.orderBy { $0.customer }
        for try await invoices in stack.snapshots(of: open) {
            texts.append(invoices.map { "\($0.customer) \($0.amount)" }.joined(separator: ", "))
            if invoices.count == 2 { break }
            try await pay(stack)
        }
        #expect(texts == ["Ahn 40.0, Ito 100.0, Lee 60.0", "Ito 100.0, Lee 60.0"])
    }

    @Test func objectSnapshots() async throws {
        let stack = try makeStack()
        let first = try await stack.read { context in
            try context.fetchOne(From<Invoice>().orderBy { $0.amount.descending })?.snapshot()
        }
        if let first {
            print(first.id, first.customer, first.amount)
            let account: ObjectID<Account>? = first.account
            #expect(account == nil)
        }
        #expect(first?.customer == "Ito")
    }

    @Test func changes() async throws {
        let stack = try makeStack()
        let connection = Connection()
        let byCustomer = From<Invoice>().orderBy(.ascending(\.customer))
        for try await update in stack.changes(of: byCustomer, content: .attributes(\.customer, \.isPaid)) {
            if let changes = update.changes {
                for change in changes.updated { connection.send("updated \(change.position.item)") }
                for move in changes.moved { connection.send("moved \(move.from.item) to \(move.to.item)") }
            } else {
                connection.send("\(update.snapshot.count) invoices")
            }
            if connection.sent.count == 2 { break }
            try await pay(stack)
        }
        #expect(connection.sent == ["3 invoices", "updated 0"])
    }

    @Test func values() async throws {
        let stack = try makeStack()
        var totals: [Double] = []
        for try await total in stack.values(of: From<Invoice>().where { !$0.isPaid }, .sum(\.amount)) {
            totals.append(total)
            if totals.count == 2 { break }
            try await pay(stack)
        }
        #expect(totals == [200, 160])
    }

    @Test func queries() async throws {
        let stack = try makeStack()
        var shares: [Double] = []
        let paidShare = stack.values { context in
            let paid = try context.queryValue(From<Invoice>().where { $0.isPaid }, .sum(\.amount))
            return paid / (try context.queryValue(From<Invoice>(), .sum(\.amount)))
        }
        for try await share in paidShare {
            shares.append(share)
            if shares.count == 2 { break }
            try await pay(stack)
        }
        #expect(shares == [0, 0.2])
    }

    @Test @MainActor func publishers() async throws {
        let stack = try makeStack()
        let controller = InvoiceController()
        try controller.begin(stack.view)
        try await pay(stack)
        #expect(controller.titles == ["open: 2", "paid: 1"])
    }

    @Test @MainActor func liveLists() async throws {
        let stack = try makeStack()
        let model = try InvoiceListModel(stack.view)
        #expect(model.title == "3 open invoices")
        try await pay(stack)
        #expect(model.title == "2 open invoices")
    }
}

@MainActor
private final class InvoiceController {
    private var publisher: ListPublisher<Invoice>?
    private(set) var titles: [String] = []

    func begin(_ view: ViewContext) throws {
        let section = SectionBy<Invoice>(\.isPaid) { $0 ? "paid" : "open" }
        let publisher = try view.publishList(From<Invoice>().orderBy { $0.customer }, sectionBy: section)
        publisher.addObserver(self, notifyInitial: true) { [weak self] publisher in
            self?.titles = publisher.snapshot.sections.map { "\($0.name): \($0.count)" }
        }
        self.publisher = publisher
    }
}

@MainActor
private final class InvoiceListModel {
    let invoices: LiveList<Invoice>

    init(_ view: ViewContext) throws {
        invoices = try LiveList(view, From<Invoice>().where { !$0.isPaid }.orderBy { $0.customer })
    }

    var title: String { "\(invoices.count) open invoices" }
}
