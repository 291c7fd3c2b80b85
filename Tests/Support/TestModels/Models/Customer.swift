import PolyStore

/// A customer with invoices.
@Model package final class Customer {
    @Attribute(.unique) package var name: String
    @Relationship package var invoices: Set<Invoice>
}
