extension JSONObject {
    /// Creates an object with the names of another one, which the two share.
    ///
    /// - Parameter values: one for each name, in order.
    package init(namesOf template: JSONObject, values: [JSONValue]) { self.init(names: template.fieldNames, values: values) }
}
