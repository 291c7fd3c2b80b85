import Foundation
import PolyStoreBackend
import PolyStoreCore

/// A class without objects. A model of many such classes shows what depends on the number of entities: `PB_ENTITIES=300`.
///
/// Written by hand instead of with `@Model`, because one generic class replaces hundreds of them.
final class Filler<Number: FillerNumber>: Model {
    @exclusivity(unchecked) var _$state: ModelState
    private var name = ""

    init(_$state state: consuming ModelState) { _$state = state }

    init(_$state state: consuming ModelState, decoding record: _RecordView) throws {
        name = try ModelCoding.of(String.self).decode(record, 0)
        _$state = state
    }

    func _$load(_ record: _RecordView) throws { name = try ModelCoding.of(String.self).decode(record, 0) }

    func _$encode(into builder: inout _RecordBuilder) throws { try ModelCoding.of(String.self).encode(name, into: &builder, 0) }

    func _$toOne(_ relationship: Int) -> ToOne { .none }

    func _$setToOne(_ relationship: Int, _ target: ToOne) {}

    func validate() throws {}

    func validateForDelete() throws {}

    static var _$entityName: String { "Filler\(Number.value)" }

    static var _$entity: EntityDescription {
        EntityDescription(
            name: _$entityName, originalName: nil,
            properties: [.attribute(ModelCoding.of(String.self).describe("name", options: [], originalName: nil, default: ""))],
            indexes: [IndexDescription(fields: ["name"])])
    }

    static var _$properties: ModelProperties { ModelProperties(Filler.self, []) }
}

@available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
extension Filler: @unchecked Sendable {}

/// The number of a filler as a type: ``One``, or twice another number, or that plus one.
protocol FillerNumber { static var value: Int { get } }

enum One: FillerNumber { static var value: Int { 1 } }
enum Even<Half: FillerNumber>: FillerNumber { static var value: Int { 2 * Half.value } }
enum Odd<Half: FillerNumber>: FillerNumber { static var value: Int { 2 * Half.value + 1 } }

enum Fillers {
    /// As many classes as are missing from the number of entities in `PB_ENTITIES`.
    static func models(beside others: Int) -> [any Model.Type] {
        let count = ProcessInfo.processInfo.environment["PB_ENTITIES"].flatMap { Int($0) } ?? 0
        var numbers: [any FillerNumber.Type] = [One.self]
        var found: [any Model.Type] = []
        while found.count < count - others {
            let number = numbers[found.count]
            numbers += next(number)
            found.append(filler(number))
        }
        return found
    }

    private static func next<Number: FillerNumber>(_ number: Number.Type) -> [any FillerNumber.Type] {
        [Even<Number>.self, Odd<Number>.self]
    }

    private static func filler<Number: FillerNumber>(_ number: Number.Type) -> any Model.Type { Filler<Number>.self }
}
