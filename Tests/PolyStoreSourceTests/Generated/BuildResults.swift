// swift-format-ignore-file
import Foundation
import PolyStore

enum BuildResults {
    @Model
    final class Info {
        @Attribute(.unique) var id: Int
        var version: Int?
        var clientVersion: Int?
        var iteration: Int?
    }

    @Model
    final class KeyNames {
        @Attribute(.unique) var id: Int
        @Attribute(.unique) var key: String?
        @Relationship(deleteRule: .deny, inverse: "key") var ruleResults: RuleResults?
    }

    @Model
    final class RuleResults {
        @Relationship(inverse: "ruleResults", required: true) var key: KeyNames?
        var value: Data?
        var signature: Int?
        var builtAt: Int?
        var computedAt: Int?
        var start: Double?
        var end: Double?
        var dependencies: Data?
    }

    static let schema = Schema("BuildDatabase", Info.self, KeyNames.self, RuleResults.self)
}
