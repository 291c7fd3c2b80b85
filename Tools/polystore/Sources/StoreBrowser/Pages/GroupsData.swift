import BrowserData
import Hummingbird

/// All groups as JSON and CSV, with their exact values.
enum GroupsData {
    static let json = route(.json)
    static let csv = route(.csv)

    private static func route(_ format: AnswerFormat) -> Route {
        Route.data { request in
            let store = request.site.store
            let groups = try GroupsView.groupsRequest(store.model(request.required("entity")), request)
            let bytes = try await store.groupBytes(of: groups, as: format, timeLimit: request.site.options.deadline)
            return DataResponse.bytes(bytes, format.mediaType)
        }
    }
}
