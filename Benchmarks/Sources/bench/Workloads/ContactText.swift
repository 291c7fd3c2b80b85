import Foundation
import PeerKit
import PolyStoreFormats

/// The persons of the generator as text: 8 fields, dates in ISO 8601 with milliseconds.
struct ContactText {
    static let columns = ["name", "email", "age", "score", "isActive", "createdAt", "notes", "departmentNumber"]

    /// Writes persons to a sink.
    static func write(_ people: some Sequence<RawPerson>, _ format: RecordFormat, to sink: ByteSink) throws {
        let writer = try RecordWriter(to: sink, format: format, columns: columns)
        for person in people {
            let record: JSONObject = [
                "name": .string(person.name), "email": .string(person.email), "age": try person.age.sourceValue(options: .default),
                "score": try person.score.sourceValue(options: .default), "isActive": .bool(person.isActive),
                "createdAt": try person.createdAt.sourceValue(options: .default), "notes": .string(person.notes),
                "departmentNumber": try Int(person.departmentID).sourceValue(options: .default),
            ]
            try writer.write(record)
        }
        try writer.finish()
    }

    /// The struct that Foundation's decoder decodes from a line. The date stays text: parsing it would cost the decoder more than everything else.
    struct Row: Decodable {
        let name: String
        let email: String
        let age: Int
        let score: Double
        let isActive: Bool
        let createdAt: String
        let notes: String
        let departmentNumber: Int
    }
}
