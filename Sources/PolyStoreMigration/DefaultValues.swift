import Foundation
import PolyStoreBackend
import PolyStoreKernel

extension Field {
    /// A Boolean value that indicates whether the attribute has a default expression that can be evaluated: any but one that only a missing class can evaluate.
    var hasEvaluableDefault: Bool {
        switch defaultExpression {
        case nil: false
        case .uuid, .date: true
        case .computed: defaultEvaluation.evaluate != nil
        }
    }

    /// Returns the default value for one object, with expressions evaluated for it; null for none.
    func defaultValueOfObject() -> Value {
        switch defaultExpression {
        case nil: defaultValue ?? .null
        case .uuid: UUID().attributeValue
        case .date: Date().attributeValue
        case .computed: (defaultEvaluation.evaluate?() ?? defaultValue) ?? .null
        }
    }
}
