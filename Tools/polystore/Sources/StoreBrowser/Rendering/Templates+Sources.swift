extension Templates {
    /// The names and the texts of the templates.
    static let sources: [(String, [UInt8])] = [
        ("layout", PackageResources.layout_mustache), ("keys", PackageResources.keys_mustache), ("cost", PackageResources.cost_mustache),
        ("cell", PackageResources.cell_mustache), ("error", PackageResources.error_mustache),
        ("entities", PackageResources.entities_mustache), ("rows", PackageResources.rows_mustache),
        ("facet", PackageResources.facet_mustache), ("facetvalues", PackageResources.facetvalues_mustache),
        ("object", PackageResources.object_mustache), ("history", PackageResources.history_mustache),
        ("transaction", PackageResources.transaction_mustache), ("groups", PackageResources.groups_mustache),
        ("form", PackageResources.form_mustache), ("preview", PackageResources.preview_mustache),
        ("changes", PackageResources.changes_mustache), ("conflict", PackageResources.conflict_mustache),
    ]
}
