// swift-format-ignore-file
import Foundation
import PolyStore

enum Northwind {
    @Model
    final class Categories {
        @Attribute(.unique) var categoryID: Int
        var categoryName: String?
        var descriptionValue: String?
        var picture: Data?
        @Relationship(deleteRule: .deny, inverse: "category") var products: Set<Products>
    }

    @Model
    final class CustomerDemographics {
        @Attribute(.unique) var customerTypeID: String
        var customerDesc: String?
        @Relationship(inverse: "customerDemographics") var customers: Set<Customers>
    }

    @Model
    final class Customers {
        @Attribute(.unique) var customerID: String?
        var companyName: String?
        var contactName: String?
        var city: String?
        var region: String?
        var postalCode: String?
        var phone: String?
        @Relationship(deleteRule: .deny, inverse: "customer") var orders: Set<Orders>
        @Relationship(inverse: "customers") var customerDemographics: Set<CustomerDemographics>
    }

    @Model
    final class Employees {
        @Attribute(.unique) var employeeID: Int
        var lastName: String?
        var firstName: String?
        var birthDate: String?
        var hireDate: Date?
        var photo: Data?
        var notes: String?
        @Relationship(inverse: "employees") var reportsTo: Employees?
        var salary: Double? = 0.0
        @Relationship(deleteRule: .deny, inverse: "reportsTo") var employees: Set<Employees>
        @Relationship(deleteRule: .deny, inverse: "employee") var orders: Set<Orders>
        @Relationship(inverse: "employees") var territories: Set<Territories>
    }

    @Model
    final class Regions {
        @Attribute(.unique) var regionID: Int
        var regionDescription: String
        @Relationship(deleteRule: .cascade, inverse: "region") var territories: Set<Territories>
    }

    @Model
    final class Territories {
        @Attribute(.unique) var territoryID: String
        var territoryDescription: String
        @Relationship(inverse: "territories", required: true) var region: Regions?
        @Relationship(inverse: "territories") var employees: Set<Employees>
    }

    @Model
    final class Shippers {
        @Attribute(.unique) var shipperID: Int
        var companyName: String
        var phone: String?
        @Relationship(inverse: "shipVia") var orders: Set<Orders>
    }

    @Model
    final class Suppliers {
        @Attribute(.unique) var supplierID: Int
        var companyName: String
        var homePage: String?
        @Relationship(deleteRule: .deny, inverse: "supplier") var products: Set<Products>
    }

    @Model
    final class Orders {
        @Attribute(.unique) var orderID: Int
        @Relationship(inverse: "orders") var customer: Customers?
        @Relationship(inverse: "orders") var employee: Employees?
        var orderDate: Date?
        var shippedDate: Date?
        @Relationship(inverse: "orders") var shipVia: Shippers?
        var freight: Decimal? = 0
        var shipName: String?
        @Relationship(deleteRule: .cascade, inverse: "order") var orderDetails: Set<OrderDetails>
    }

    @Model
    final class Products {
        @Attribute(.unique) var productID: Int
        var productName: String
        @Relationship(inverse: "products") var supplier: Suppliers?
        @Relationship(inverse: "products") var category: Categories?
        var quantityPerUnit: String?
        var unitPrice: Decimal? = 0
        var unitsInStock: Int? = 0
        var discontinued: String = "0"
        @Relationship(deleteRule: .deny, inverse: "product") var orderDetails: Set<OrderDetails>
    }

    @Model
    final class OrderDetails {
        @Relationship(inverse: "orderDetails", required: true) var order: Orders?
        @Relationship(inverse: "orderDetails", required: true) var product: Products?
        var unitPrice: Decimal = 0
        var quantity: Int = 1
        var discount: Double = 0.0

        #Unique<OrderDetails>(\.order, \.product)
    }

    static let schema = Schema("Northwind", Categories.self, CustomerDemographics.self, Customers.self, Employees.self, Regions.self, Territories.self, Shippers.self, Suppliers.self, Orders.self, Products.self, OrderDetails.self)
}
