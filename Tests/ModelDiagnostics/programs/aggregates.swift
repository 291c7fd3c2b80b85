import Foundation
import PolyStore

@Model
final class Part {
    var name: String = ""
    var count: Int = 0
    var weight: Double?
    var price: Decimal = 0
    var isNew: Bool = false
    var made: Date?
}

/// Aggregates that need numbers do not compile for attributes of other types.
func aggregates(_ context: SnapshotContext) throws {
    let all = From<Part>()
    let _: Double? = try context.queryValue(all, .average(\.count))
    let _: Double? = try context.queryValue(all, .average(\.weight))
    let _: Double? = try context.queryValue(all, .average(\.isNew))
    let _: Decimal? = try context.queryValue(all, .average(\.price))
    let _: Double? = try context.queryValue(all, .average(\.price))
    let _: Double? = try context.queryValue(all, .median(\.count))
    let _: Double? = try context.queryValue(all, .standardDeviation(\.weight))
    let _: Double? = try context.queryValue(all, .average(\.name))  // error: an average needs an attribute of numbers
    let _: Double? = try context.queryValue(all, .median(\.made))  // error: a median needs an attribute of numbers
    let _: Double? = try context.queryValue(all, .median(\.price))  // error: a median needs an attribute of numbers
    let _: Double? = try context.queryValue(all, .standardDeviation(\.isNew))  // error: a standardDeviation needs an attribute of numbers
}
