import PolyStore

/// The record of YCSB: a key and ten fields.
@Model final class Entry {
    @Attribute(.unique) var key: String
    var field0: String = ""
    var field1: String = ""
    var field2: String = ""
    var field3: String = ""
    var field4: String = ""
    var field5: String = ""
    var field6: String = ""
    var field7: String = ""
    var field8: String = ""
    var field9: String = ""
}
