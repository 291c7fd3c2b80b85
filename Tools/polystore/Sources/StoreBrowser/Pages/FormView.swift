import BrowserData
import PolyStoreBackend

/// The values of the template of a form.
enum FormView {
    /// - Parameter mistakes: What is wrong with the entries that were sent.
    static func view(_ form: ObjectForm, _ request: BrowserRequest, _ mistakes: [ChangePreview.Mistake]) -> View {
        var view: View = ["action": request.query.address(request.path), "formToken": "\(request.site.formToken)"]
        view["seen"] = request.form["seen"] ?? form.seen
        view["entityName"] = form.entity
        view["isChoosing"] = !form.concreteEntities.isEmpty
        view["choices"] = form.concreteEntities.map {
            ["name": $0, "address": QueryItems([("entity", $0)]).address("/create")] as View
        }
        view["hasMistakes"] = !mistakes.isEmpty
        let names = Set(form.fields.map(\.name))
        view["mistakes"] = mistakes.map { mistake in
            ["text": mistake.property.map { names.contains($0) ? "\($0): \(mistake.message)" : mistake.message } ?? mistake.message] as View
        }
        let posted = request.form.items.isEmpty ? nil : request.form
        view["fields"] = form.fields.enumerated().map { index, field in
            let own = mistakes.filter { $0.property == field.name }
            let common: View = [
                "id": "field-\(index)", "name": field.name, "hint": hint(field), "isInvalid": !own.isEmpty,
                "problems": own.map { ["text": $0.message] as View }, "type": type(field),
            ]
            return common.merging(isMany(field) ? members(field, posted) : input(field, posted)) { $1 }
        }
        return view
    }

    private static func isMany(_ field: ObjectForm.Field) -> Bool { if case .toMany = field.kind { true } else { false } }

    private static func type(_ field: ObjectForm.Field) -> String {
        let kind =
            switch field.kind {
            case .attribute(let type): type.rawValue
            case .toOne(let destination): destination
            case .toMany(let destination, let isOrdered): isOrdered ? "ordered \(destination)" : "many \(destination)"
            }
        return kind + (field.isRequired ? ", required" : "") + (field.isUnique ? ", unique" : "")
    }

    private static func hint(_ field: ObjectForm.Field) -> String {
        let target = if case .toOne = field.kind { field.targets.first.map { ["now: \($0.title)"] } ?? [] } else { [String]() }
        return (field.hints + target).joined(separator: "; ")
    }

    // MARK: One value

    private static func input(_ field: ObjectForm.Field, _ posted: QueryItems?) -> View {
        let kind = field.isEscaped ? FormInput.Input.escaped : .value
        let name = kind.name(field.name)
        let text = posted?.all(name).first ?? field.text
        let isNull = posted.map { $0.contains(FormInput.Input.null.name(field.name)) } ?? field.isNull
        let isOmitted = field.sizeOfOmitted != nil
        let isChoice = !field.choices.isEmpty && !isOmitted
        let isLong = !isOmitted && !isChoice && isText(field) && (text.utf8.count > 60 || text.contains { $0.isNewline } || isWide(field))
        return [
            "isMany": false, "inputName": name, "text": text, "isChoice": isChoice, "isLong": isLong, "isOmitted": isOmitted,
            "isShort": !isChoice && !isLong && !isOmitted, "lines": "\(min(12, max(2, text.utf8.count / 80 + 1)))",
            "omittedText": "A value of \(field.sizeOfOmitted ?? 0) bytes is kept.",
            "options": options(field, text).map { ["value": $0, "isChosen": $0 == text] as View },
            "permitsNull": !field.isRequired, "isNull": isNull, "nullName": FormInput.Input.null.name(field.name),
        ]
    }

    /// The texts to choose among, with that of the object if it is another one.
    private static func options(_ field: ObjectForm.Field, _ text: String) -> [String] {
        field.choices.contains(text) ? field.choices : [text] + field.choices
    }

    private static func isText(_ field: ObjectForm.Field) -> Bool { if case .attribute = field.kind { true } else { false } }

    private static func isWide(_ field: ObjectForm.Field) -> Bool {
        switch field.kind {
        case .attribute(.json), .attribute(.data), .attribute(.string): true
        default: false
        }
    }

    // MARK: Many values

    private static func members(_ field: ObjectForm.Field, _ posted: QueryItems?) -> View {
        let isOrdered = if case .toMany(_, let isOrdered) = field.kind { isOrdered && field.listsAllTargets } else { false }
        let removeName = FormInput.Input.remove.name(field.name)
        let removed = Set(posted?.all(removeName) ?? [])
        let targets = field.targets.compactMap { target -> View? in
            guard let rowID = target.reference?.rowID else { return nil }
            return ["title": target.title, "rowID": "\(rowID)", "removeName": removeName, "isRemoved": removed.contains("\(rowID)")]
        }
        let order = field.targets.compactMap { $0.reference.map { "\($0.rowID)" } }.joined(separator: " ")
        let others = field.targetCount - field.targets.count
        return [
            "isMany": true, "targets": targets, "addName": FormInput.Input.add.name(field.name),
            "added": posted?.all(FormInput.Input.add.name(field.name)).first ?? "", "isOrdered": isOrdered,
            "orderName": FormInput.Input.order.name(field.name),
            "order": posted?.all(FormInput.Input.order.name(field.name)).first ?? order,
            "hasMoreTargets": others > 0, "moreText": "\(others) further objects are not listed.",
        ]
    }
}
