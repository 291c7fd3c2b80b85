import Foundation
import PolyStoreFormats
import Testing

@Suite struct JSONValueTests {
    @Test func literalsAndAccess() throws {
        let value: JSONValue = ["name": "Paris", "population": 2_102_650, "position": [48.85, 2.35], "capital": true, "note": nil]
        #expect(value["name"]?.string == "Paris")
        #expect(value["population"]?.int == 2_102_650)
        #expect(value["position"]?[1]?.double == 2.35)
        #expect(value["position"]?[2] == nil)
        #expect(value["capital"]?.bool == true)
        #expect(value["note"]?.isNull == true)
        #expect(value.value(at: "position.0")?.decimal == Decimal(string: "48.85"))
        #expect(value.description == #"{"name":"Paris","population":2102650,"position":[48.85,2.35],"capital":true,"note":null}"#)
    }

    @Test func objectsKeepTheirOrderAndCompareWithoutIt() {
        var object: JSONObject = ["b": 1, "a": 2]
        #expect(object.names == ["b", "a"])
        #expect(object == ["a": 2, "b": 1])
        #expect(object.hashValue == (["a": 2, "b": 1] as JSONObject).hashValue)
        let copy = object
        object["b"] = nil
        object["c"] = 3
        #expect(object.names == ["a", "c"])
        #expect(copy.names == ["b", "a"])
        #expect(object["b"] == nil)
    }

    @Test(arguments: [5, 12, 13, 100]) func fieldsAreFoundInObjectsOfAnySize(count: Int) {
        var object = JSONObject()
        for index in 0..<count { object["field\(index)"] = JSONValue(index) }
        for index in 0..<count { #expect(object["field\(index)"]?.int == index) }
        #expect(object["field\(count)"] == nil)
        object["field0"] = nil
        #expect(object["field0"] == nil)
        #expect(object["field\(count - 1)"]?.int == count - 1)
    }

    @Test func theLastOfEqualNamesOfALiteralIsKept() {
        let object: JSONObject = ["a": 1, "b": 2, "a": 3]
        #expect(object.map(\.key) == ["a", "b"])
        #expect(object["a"] == 3)
    }

    @Test func valuesAreCodable() throws {
        let value: JSONValue = ["a": [1, 2.5, "x", nil, true, ["b": JSONValue(UInt64.max)]], "c": -7]
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
        #expect(try value.decode(JSONValue.self) == value)
    }
}
