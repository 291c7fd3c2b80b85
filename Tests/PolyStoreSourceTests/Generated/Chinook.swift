// swift-format-ignore-file
import Foundation
import PolyStore

enum Chinook {
    @Model
    final class Artist {
        @Attribute(.unique) var artistId: Int
        var name: String?
        @Relationship(deleteRule: .deny, inverse: "artist") var albums: Set<Album>
    }

    @Model
    final class Album {
        @Attribute(.unique) var albumId: Int
        var title: String
        @Relationship(inverse: "albums", required: true) var artist: Artist?
        @Relationship(deleteRule: .deny, inverse: "album") var tracks: Set<Track>
    }

    @Model
    final class Employee {
        @Attribute(.unique) var employeeId: Int
        var lastName: String
        var firstName: String
        var title: String?
        @Relationship(inverse: "employees") var reportsTo: Employee?
        var birthDate: Date?
        var hireDate: Date?
        var address: String?
        var city: String?
        var state: String?
        var country: String?
        var postalCode: String?
        var phone: String?
        var fax: String?
        var email: String?
        @Relationship(deleteRule: .deny, inverse: "reportsTo") var employees: Set<Employee>
        @Relationship(deleteRule: .deny, inverse: "supportRep") var customers: Set<Customer>
    }

    @Model
    final class Customer {
        @Attribute(.unique) var customerId: Int
        var firstName: String
        var lastName: String
        var company: String?
        var address: String?
        var city: String?
        var country: String?
        var email: String
        @Relationship(inverse: "customers") var supportRep: Employee?
        @Relationship(deleteRule: .deny, inverse: "customer") var invoices: Set<Invoice>

        #Index<Customer>(\.lastName, \.firstName)
    }

    @Model
    final class Genre {
        @Attribute(.unique) var genreId: Int
        var name: String?
        @Relationship(deleteRule: .deny, inverse: "genre") var tracks: Set<Track>
    }

    @Model
    final class MediaType {
        @Attribute(.unique) var mediaTypeId: Int
        var name: String?
        @Relationship(deleteRule: .deny, inverse: "mediaType") var tracks: Set<Track>
    }

    @Model
    final class Track {
        @Attribute(.unique) var trackId: Int
        @Attribute(.indexed) var name: String
        @Relationship(inverse: "tracks") var album: Album?
        @Relationship(inverse: "tracks", required: true) var mediaType: MediaType?
        @Relationship(inverse: "tracks") var genre: Genre?
        var composer: String?
        var milliseconds: Int
        var bytes: Int?
        var unitPrice: Decimal
        @Relationship(deleteRule: .deny, inverse: "track") var invoiceLines: Set<InvoiceLine>
        @Relationship(inverse: "tracks") var playlists: Set<Playlist>
    }

    @Model
    final class Invoice {
        @Attribute(.unique) var invoiceId: Int
        @Relationship(inverse: "invoices", required: true) var customer: Customer?
        var invoiceDate: Date
        var billingCity: String?
        var total: Decimal
        @Relationship(deleteRule: .deny, inverse: "invoice") var invoiceLines: Set<InvoiceLine>
    }

    @Model
    final class InvoiceLine {
        @Attribute(.unique) var invoiceLineId: Int
        @Relationship(inverse: "invoiceLines", required: true) var invoice: Invoice?
        @Relationship(inverse: "invoiceLines", required: true) var track: Track?
        var unitPrice: Decimal
        var quantity: Int
    }

    @Model
    final class Playlist {
        @Attribute(.unique) var playlistId: Int
        var name: String?
        @Relationship(inverse: "playlists") var tracks: Set<Track>
    }

    static let schema = Schema("Chinook", Artist.self, Album.self, Employee.self, Customer.self, Genre.self, MediaType.self, Track.self, Invoice.self, InvoiceLine.self, Playlist.self)
}
