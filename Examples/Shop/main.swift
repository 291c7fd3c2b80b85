import Foundation
import PolyStore
import PolyStoreMemory

@Model
final class Product {
    @Attribute(.unique, .matches("[A-Z]{2}-[0-9]{4}")) var code: String
    @Attribute(.length(1...100)) var name: String = ""
    @Attribute(.range(Decimal(0)...)) var price: Decimal = 0
}

@Model
final class Customer {
    @Attribute(.unique) var email: String
    @Attribute(.indexed) var name: String = ""
    @Relationship(deleteRule: .deny, inverse: "customer") var orders: Set<Order>
}

@Model
final class Order {
    @Attribute(.indexed) var placed: Date = Date()
    @Relationship(required: true) var customer: Customer?
    @Relationship(deleteRule: .cascade, inverse: "order", min: 1) var lines: [OrderLine]
    @Relationship(deleteRule: .deny, inverse: "order") var invoice: Invoice?

    var total: Decimal { lines.reduce(0) { $0 + $1.amount } }
}

@Model
final class OrderLine {
    @Attribute(.range(1...)) var quantity: Int = 1
    var unitPrice: Decimal = 0
    @Relationship(required: true) var product: Product?
    @Relationship(required: true) var order: Order?

    var amount: Decimal { unitPrice * Decimal(quantity) }
}

@Model
final class Invoice {
    enum Status: String, Codable, Sendable { case open, paid }

    @Attribute(.unique) var number: Int
    var issued: Date = Date()
    var amount: Decimal = 0
    var status: Status = .open
    @Relationship(required: true) var order: Order?
}

let schema = Schema("Shop 1", Product.self, Customer.self, Order.self, OrderLine.self, Invoice.self)
let stack = try DataStack(schema)
try stack.addStore(.inMemory())

try await stack.perform { transaction in
    for (code, name, price) in [("TE-0001", "Tea", "4.95"), ("CU-0001", "Cup", "12.50"), ("SP-0001", "Spoon", "0.10")] {
        let product = try transaction.create(Into<Product>())
        product.code = code
        product.name = name
        product.price = Decimal(string: price)!
    }
}

/// Places an order and issues its invoice. Queued transactions run one after another, so two orders cannot take the same number.
func order(_ lines: [(code: String, quantity: Int)], by email: String) async throws -> Int {
    try await stack.perform { transaction in
        let order = try transaction.create(Into<Order>())
        order.customer = try transaction.fetchOrCreate(From<Customer>().where { $0.email == email })
        for (code, quantity) in lines {
            guard let product = try transaction.fetchOne(From<Product>().where { $0.code == code }) else {
                throw ShopError.unknownProduct(code)
            }
            let line = try transaction.create(Into<OrderLine>())
            line.product = product
            line.quantity = quantity
            line.unitPrice = product.price
            order.lines.append(line)
        }
        // Read before the new invoice is created: a fetch of a transaction sees its pending changes.
        let last = try transaction.fetchOne(From<Invoice>().orderBy { $0.number.descending })?.number ?? 1000
        let invoice = try transaction.create(Into<Invoice>())
        invoice.number = last + 1
        invoice.order = order
        invoice.amount = order.total
        return invoice.number
    }
}

enum ShopError: Error { case unknownProduct(String) }

let first = try await order([("TE-0001", 2), ("SP-0001", 3)], by: "jane@example.com")
let second = try await order([("CU-0001", 1)], by: "john@example.com")
print("invoices", first, second)

try await stack.perform { transaction in
    try transaction.batchUpdate(From<Invoice>().where { $0.number == first }) { $0.set(\.status, to: .paid) }
}

// Conditions and orders lead over relationships.
for invoice in try stack.view.fetchAll(From<Invoice>().where { $0.status == .open }.orderBy { $0.number }) {
    print("open", invoice.number, invoice.amount, invoice.order?.customer?.email ?? "")
}
let withTea = try stack.view.fetchAll(From<Order>(), .any(\.lines, \.product?.name == "Tea"))
print("orders with tea", withTea.map { $0.lines.map { "\($0.quantity) \($0.product?.name ?? "")" } })

// The sum of decimals is exact.
let sum = try stack.view.queryValue(From<Invoice>(), .sum(\.amount))
print("total", sum)

// A rule that is broken: nothing is written, and the error lists each violation.
do {
    _ = try await order([], by: "mary@example.com")
} catch let error as StoreError {
    for violation in error.violations { print("refused:", violation.message) }
}
print("customers", try stack.view.fetchCount(From<Customer>()))
