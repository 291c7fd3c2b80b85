import BrowserData
import HTTPTypes
import Hummingbird

/// The pages that change an object: a form, the change before its commit, and the commit.
enum EditView {
    /// The kind of change of a page.
    enum Kind: String, Sendable { case edit, create, delete }

    static let edit = Route.page({ try await form(.edit, $0) }, change: { try await change(.edit, $0) })
    static let create = Route.page({ try await form(.create, $0) }, change: { try await change(.create, $0) })
    static let delete = Route.page({ try await deletion($0) }, change: { try await change(.delete, $0) })

    // MARK: Pages

    private static func form(_ kind: Kind, _ request: BrowserRequest) async throws -> Response {
        try checkWritable(request)
        return try await formPage(kind, request, mistakes: []).response(request)
    }

    /// Returns the form of the object of the address, with the entries that were sent already.
    private static func formPage(_ kind: Kind, _ request: BrowserRequest, mistakes: [ChangePreview.Mistake]) async throws -> Page {
        let store = request.site.store
        let form: ObjectForm
        if kind == .create {
            form = try await store.form(creating: request.required("entity"))
        } else {
            let object = try request.object()
            guard let found = try await store.form(of: object) else {
                throw BrowserError(404, "\(object.entity) \(object.rowID) does not exist. It can have been deleted.")
            }
            form = found
        }
        let title = kind == .create ? "New \(form.entity)" : "Edit \(form.title)"
        var page = Page(template: "form", title: title, status: mistakes.isEmpty ? .ok : .badRequest, entity: form.entity)
        page.view = FormView.view(form, request, mistakes)
        page.view["cancelAddress"] = cancelAddress(kind, request)
        page.view["formLabel"] = title
        return page
    }

    /// A deletion has no form. Its page shows the objects that it would delete or change.
    private static func deletion(_ request: BrowserRequest) async throws -> Response {
        try checkWritable(request)
        let outcome = try await request.site.store.preview(ObjectEdit(.delete(request.object())))
        return try await response(.delete, outcome, request)
    }

    // MARK: Forms that are sent

    private static func change(_ kind: Kind, _ request: BrowserRequest) async throws -> Response {
        let step = request.form["step"] ?? "preview"
        if step == "form" { return try await formPage(kind, request, mistakes: []).response(request) }
        let action: ObjectEdit.Action =
            switch kind {
            case .edit: .update(try request.object())
            case .create: .create(try request.required("entity"))
            case .delete: .delete(try request.object())
            }
        var edit = ObjectEdit(action, input: FormInput(posted: request.form.items), seen: request.form["seen"])
        guard step == "commit" else { return try await response(kind, request.site.store.preview(edit), request) }
        guard let confirmed = request.form["confirmed"] else {
            throw BrowserError(400, "The form does not confirm the change that was shown. Show the change first.")
        }
        edit.confirmed = confirmed
        return try await response(kind, request.site.store.commit(edit), request)
    }

    private static func response(_ kind: Kind, _ outcome: EditOutcome, _ request: BrowserRequest) async throws -> Response {
        switch outcome {
        case .committed(let object, _):
            let entity = request.query["entity"] ?? ""
            return Response(status: .seeOther, headers: [.location: object.map { Addresses.object($0) } ?? Addresses.rows(entity)])
        case .refused(let preview) where kind != .delete:
            return try await formPage(kind, request, mistakes: preview.mistakes).response(request)
        case .accepted(let preview), .refused(let preview):
            return PreviewView.page(kind, preview, request, isChanged: false).response(request)
        case .conflict(let conflict):
            if let preview = conflict.preview { return PreviewView.page(kind, preview, request, isChanged: true).response(request) }
            return PreviewView.page(kind, conflict, request).response(request)
        }
    }

    static func cancelAddress(_ kind: Kind, _ request: BrowserRequest) -> String {
        guard kind != .create, let object = try? request.object() else { return Addresses.rows(request.query["entity"] ?? "") }
        return Addresses.object(object)
    }

    private static func checkWritable(_ request: BrowserRequest) throws {
        guard request.site.store.isWritable else {
            throw BrowserError(403, "The store was opened read-only. Start polystore browse with --write to change it.")
        }
    }
}
