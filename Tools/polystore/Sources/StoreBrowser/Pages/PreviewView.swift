import BrowserData
import Hummingbird

/// The pages that show a change before it is committed, and a conflict.
enum PreviewView {
    /// - Parameter isChanged: Whether a commit was refused because the change would be another one now.
    static func page(_ kind: EditView.Kind, _ preview: ChangePreview, _ request: BrowserRequest, isChanged: Bool) -> Page {
        let canCommit = preview.mistakes.isEmpty && !preview.isEmpty
        let title = kind == .delete ? "Delete \(preview.objects.first { $0.isSubject }?.object.title ?? "object")" : "Change"
        var page = Page(template: "preview", title: title, entity: request.query["entity"])
        if isChanged { page.status = .conflict }
        page.view = changes(preview)
        page.view["hasMistakes"] = !preview.mistakes.isEmpty
        page.view["mistakes"] = preview.mistakes.map { ["text": $0.message] as View }
        page.view["isChanged"] = isChanged
        page.view["isUnchanged"] = preview.isEmpty && preview.mistakes.isEmpty
        page.view["hasChanges"] = canCommit
        page.view["summary"] = summary(preview)
        page.view["action"] = request.query.address(request.path)
        page.view["canCommit"] = canCommit
        page.view["canReturn"] = kind != .delete
        page.view["commitTitle"] = kind == .delete ? "Delete" : kind == .create ? "Create" : "Commit the change"
        page.view["cancelAddress"] = EditView.cancelAddress(kind, request)
        page.view["hidden"] = hidden(preview, request)
        return page
    }

    /// The page of an object that was changed by something else since its form was shown.
    static func page(_ kind: EditView.Kind, _ conflict: EditConflict, _ request: BrowserRequest) -> Page {
        var page = Page(template: "conflict", title: "Conflict", entity: request.query["entity"])
        page.status = .conflict
        page.view["conflictText"] =
            conflict.isDeleted ? "The object was deleted in the meantime." : "The object was changed in the meantime."
        page.view["hasProperties"] = !conflict.properties.isEmpty
        page.view["properties"] = conflict.properties.map { property -> View in
            [
                "name": property.name, "wasChanged": property.wasChanged, "hasStored": property.stored != nil,
                "stored": property.stored ?? "",
                "hasEntered": property.entered != nil, "entered": property.entered ?? "",
            ]
        }
        let entity = request.query["entity"] ?? ""
        page.view["againAddress"] = conflict.isDeleted ? Addresses.rows(entity) : request.query.address(request.path)
        page.view["againTitle"] = conflict.isDeleted ? "Rows of \(entity)" : "Edit the object as it is now"
        return page
    }

    /// The entries of the form, to be sent again with the commit.
    private static func hidden(_ preview: ChangePreview, _ request: BrowserRequest) -> [View] {
        let kept = request.form.items.filter { !["form-token", "confirmed", "step"].contains($0.name) }
        let added = [("form-token", "\(request.site.formToken)"), ("confirmed", preview.digest)]
        return (kept + added).map { ["name": $0.0, "value": $0.1] }
    }

    /// Returns the numbers of changed objects as a sentence.
    private static func summary(_ preview: ChangePreview) -> String {
        let parts = preview.counts.map { "\($0.count) \($0.entity) \($0.kind.rawValue)" }
        return parts.joined(separator: ", ") + "."
    }

    private static func changes(_ preview: ChangePreview) -> View {
        let total = preview.counts.reduce(0) { $0 + $1.count }
        let others = total - preview.objects.count
        return [
            "changes": preview.objects.map(change), "hasMoreChanges": others > 0,
            "moreChanges": "\(others) further object\(others == 1 ? "" : "s") would change.",
        ]
    }

    private static func change(_ change: ChangePreview.Object) -> View {
        let properties = change.properties.map { property -> View in
            [
                "name": property.name, "hasOld": property.old != nil, "old": property.old ?? "", "hasNew": property.new != nil,
                "new": property.new ?? "",
            ]
        }
        return [
            "kind": change.kind.rawValue, "title": change.object.title, "entity": change.object.entity,
            "exists": change.object.reference != nil, "address": change.object.reference.map { Addresses.object($0) } ?? "",
            "hasProperties": !properties.isEmpty, "properties": properties,
        ]
    }
}
