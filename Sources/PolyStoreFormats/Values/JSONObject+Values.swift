extension JSONObject {
    /// Creates an object that shares the names of another one.
    ///
    /// - Parameter values: One value per name, in order.
    package init(namesOf template: JSONObject, values: [JSONValue]) { self.init(names: template.fieldNames, values: values) }
}
