import Foundation
import PolyStore

/// An invoice of a customer.
@Model package final class Invoice {
    @Attribute(.unique) package var number: Int
    package var amount: Decimal = 0
    @Relationship(inverse: "invoices") package var customer: Customer?
    @Relationship(inverse: "follows") package var follows: Set<Invoice>
}
